"""Quartiles and signed ranks against their definitions."""

from __future__ import annotations

from itertools import product
from statistics import quantiles

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from aegisbo.errors import InvalidInput
from aegisbo.simulation.comparison import Quartiles, compare, quartiles

NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(NUMBERS, min_size=2, max_size=12))
def test_quartiles_are_those_of_the_standard_library(values: list[float]) -> None:
    of = quartiles(values)
    assert (of.low, of.median, of.high) == pytest.approx(quantiles(values, n=4, method="inclusive"), abs=1e-6)


def test_one_value_is_all_three_quartiles() -> None:
    assert quartiles([3.5]) == Quartiles(3.5, 3.5, 3.5)


def chance_by_counting(differences: list[float]) -> float:
    """Of all ways to choose the signs, the share whose positive ranks sum to at least what was seen."""
    sizes = sorted(map(abs, differences))
    ranks = [sizes.index(abs(each)) + (sizes.count(abs(each)) + 1) / 2 for each in differences]
    seen = sum(rank for rank, each in zip(ranks, differences, strict=True) if each > 0)
    sums = [sum(np.compress(signs, ranks)) for signs in product([0, 1], repeat=len(ranks))]
    return sum(each >= seen for each in sums) / len(sums)


@pytest.mark.parametrize("seed", range(6))
def test_chances_are_those_of_all_ways_to_choose_the_signs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, reference = rng.normal(0.3, 1, 8), rng.normal(0, 1, 8)
    found = compare(scores, reference)
    difference = (scores - reference).tolist()
    assert found.p_worse == pytest.approx(chance_by_counting(difference))
    assert found.p_better == pytest.approx(chance_by_counting([-each for each in difference]))
    assert (found.better, found.worse, found.equal) == (
        sum(each < 0 for each in difference),
        sum(each > 0 for each in difference),
        0,
    )


@pytest.mark.parametrize("difference", [[-1, -1, 1, -2, -2, -2], [1, -1, 1, -1, 2, -2, -3], [-1, -1, -1, -1, -1]])
def test_differences_of_one_size_share_their_ranks(difference: list[float]) -> None:
    found = compare(difference, [0] * len(difference))
    assert found.p_worse == pytest.approx(chance_by_counting(difference))
    assert found.p_better == pytest.approx(chance_by_counting([-each for each in difference]))


@pytest.mark.parametrize("runs", [20, 51, 200])
def test_many_runs_have_the_chances_of_scipy(runs: int) -> None:
    difference = np.random.default_rng(runs).normal(-0.2, 1, runs)
    found = compare(difference, np.zeros(runs))
    for side, chance in {"less": found.p_better, "greater": found.p_worse}.items():
        assert chance == pytest.approx(wilcoxon(difference, alternative=side, method="exact").pvalue, rel=1e-9)


def test_equal_pairs_are_counted_but_not_tested() -> None:
    found = compare([1, 2, 3, 4, 5, 6, 0], [2, 4, 6, 8, 10, 6, 0])
    assert (found.better, found.worse, found.equal) == (5, 0, 2)
    assert (found.p_better, found.p_worse) == (1 / 32, 1)


def test_nothing_but_ties_says_nothing() -> None:
    found = compare([1.0] * 5, [1.0] * 5)
    assert (found.equal, found.p_better, found.p_worse) == (5, 1, 1)


def test_four_runs_are_too_few_for_a_test() -> None:
    found = compare([1, 2, 3, 4], [2, 4, 6, 8])
    assert (found.better, found.p_better, found.p_worse) == (4, None, None)


def test_runs_must_be_paired() -> None:
    with pytest.raises(InvalidInput, match=r"reference must have shape \(3,\)"):
        compare([1, 2, 3], [1, 2])
