"""Spreads, marks and ranges of medians against SciPy, definitions, simulation and counting by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from aegis_paper.statistics import Mark, Verdict, chance, holm, mad, marks, median_interval, span, verdict
from scipy.stats import binom, wilcoxon

from aegisbo.arrays import Array


def runs(values: list[float], first: int = 0) -> pd.Series:
    return pd.Series(values, range(first, first + len(values)), dtype=float)


def by_definition(p: Array) -> list[float]:
    """Holm's corrected p-values in the plainest way: the largest of (m − rank) p up to one's own rank."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    stepped = [(len(p) - rank) * p[i] for rank, i in enumerate(order)]
    return [min(1.0, max(stepped[: order.index(i) + 1])) for i in range(len(p))]


def test_the_spread_is_the_middle_distance_from_the_middle() -> None:
    assert mad([7.0, 1.0, 2.0, 4.0, 100.0]) == pytest.approx(3 * 1.4826, rel=1e-5)  # distances from 4: 3, 3, 2, 0, 96


def test_the_spread_of_normal_scores_is_their_standard_deviation() -> None:
    scores = np.random.default_rng(1).normal(5, 3, 40_000)
    assert mad(scores) == pytest.approx(3, rel=0.03)


@pytest.mark.parametrize("methods", [1, 2, 6, 10])
def test_holm_follows_the_definition(methods: int) -> None:
    p = np.random.default_rng(methods).choice([0.001, 0.004, 0.01, 0.02, 0.3, 0.9], methods)  # with ties
    assert holm(p) == pytest.approx(by_definition(p))


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert len(holm([])) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_chance_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 11), rng.normal(0.5, 1, 11)
    for two_sided, alternative in ((False, "less"), (True, "two-sided")):
        expected = wilcoxon(a, b, alternative=alternative).pvalue
        assert chance(runs(a.tolist()), runs(b.tolist()), two_sided=two_sided) == pytest.approx(expected)


def test_only_shared_runs_are_compared() -> None:
    best, other = runs([0.0] * 9), runs([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], first=4)  # runs 4 to 8 are shared
    assert chance(best, other) == 1 / 32
    assert chance(best, other, two_sided=True) == 2 / 32
    assert chance(best, runs([1.0, 2.0, 3.0, 4.0, 5.0], first=5)) == 1.0  # four shared runs cannot tell
    assert chance(best, runs([1.0], first=20)) == 1.0


def test_equal_results_are_no_evidence_of_a_difference_except_for_the_published_code() -> None:
    assert chance(runs([1.0] * 11), runs([1.0] * 11)) == 1.0
    assert chance(runs([1.0] * 11), runs([1.0] * 11), two_sided=True) == 0.0


def test_marks_follow_the_corrected_test() -> None:
    rng = np.random.default_rng(3)
    shifts = {"a": 0.0, "b": 0.3, "c": 1.2, "d": 2.5, "e": 0.9}
    scores = pd.DataFrame({name: rng.normal(shift, 1, 11) for name, shift in shifts.items()})
    best = min(scores, key=lambda name: sorted(scores[name])[5])
    others = [name for name in scores if name != best]
    for two_sided, alternative in ((False, "less"), (True, "two-sided")):
        p = [wilcoxon(scores[best], scores[name], alternative=alternative).pvalue for name in others]
        rejected = [corrected < 0.05 for corrected in by_definition(np.array(p))]
        assert 0 < sum(rejected) < len(others), "all others alike: the test is too tame"
        expected = {name: Mark.WORSE if no else Mark.EQUIVALENT for name, no in zip(others, rejected, strict=True)}
        assert marks(scores, two_sided=two_sided) == {best: Mark.BEST} | expected


def test_one_sided_sees_a_little_more() -> None:
    """Five wins of five: 1/32 one-sided, 1/16 two-sided."""
    scores = pd.DataFrame({"a": runs([1, 2, 3, 4, 5]), "b": runs([2, 4, 6, 8, 10])})
    assert marks(scores) == {"a": Mark.BEST, "b": Mark.WORSE}
    assert marks(scores, two_sided=True) == {"a": Mark.BEST, "b": Mark.EQUIVALENT}


def test_methods_without_runs_have_no_mark() -> None:
    assert marks(pd.DataFrame({"a": runs([]), "b": runs([1.0] * 5)})) == {"b": Mark.BEST}
    assert marks(pd.DataFrame({"a": runs([]), "b": runs([])})) == {}


def test_numbers_of_runs() -> None:
    assert (span([11, 7, 9]), span([5, 5])) == ("7–11", "5")


def depth(n: int) -> int:
    """k, when the interval goes from the k-th to the k-th last value."""
    interval = median_interval(np.random.default_rng(n).permutation(n) + 1)
    assert interval.low + interval.high == n + 1
    return int(interval.low)


def test_eleven_values_lose_one_at_each_end() -> None:
    interval = median_interval([11, 2, 9, 4, 7, 6, 5, 8, 3, 10, 1])
    assert (interval.low, interval.high) == (2, 10)


@pytest.mark.parametrize("n", [8, 10, 12, 15, 20, 33, 51])
def test_other_numbers_are_as_safe_and_no_wider_than_needed(n: int) -> None:
    safe = binom.cdf(1, 11, 0.5)
    k = depth(n)
    assert binom.cdf(k - 1, n, 0.5) <= safe < binom.cdf(k, n, 0.5)


def test_few_values_give_their_range() -> None:
    assert [depth(n) for n in range(1, 8)] == [1] * 7


@pytest.mark.long
def test_the_interval_holds_the_true_median_as_often_as_promised() -> None:
    samples = np.random.default_rng(0).exponential(size=(20_000, 11))
    inside = [interval.low <= np.log(2) <= interval.high for interval in map(median_interval, samples)]
    assert np.mean(inside) == pytest.approx(1 - 24 / 2048, abs=4 * np.sqrt(24 / 2048 / 20_000))


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (1.34, Verdict.AGREES),  # the 2nd value is 2: down to 1.333
        (1.33, Verdict.HIGHER),
        (14.99, Verdict.AGREES),  # the 10th is 10: up to 15
        (15.01, Verdict.LOWER),
    ],
)
def test_verdicts_allow_a_factor_at_each_end(published: float, expected: Verdict) -> None:
    assert verdict(range(1, 12), published) is expected


def test_four_runs_are_no_verdict() -> None:
    assert verdict([1, 2, 3, 4], 2.5) is Verdict.OPEN
    assert verdict([1, 2, 3, 4, 5], 2.5) is Verdict.AGREES
