"""Average ranks against SciPy's ranks and against the mean over all combinations of runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from aegis_paper.ranks import DRAWS, ranks_of
from scipy.stats import rankdata

from aegisbo.arrays import Array


def average_ranks(instances: Sequence[Sequence[Array]], seed: int = 0) -> Array:
    return ranks_of(instances, seed).mean(axis=0)


def test_one_run_a_method_gives_plain_ranks() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (6, 5, 9)).astype(float)  # instances, methods, budget; with ties
    ranks = ranks_of([[curve[None] for curve in instance] for instance in scores])
    assert ranks == pytest.approx(rankdata(scores, axis=1))


def test_draws_approach_the_mean_over_all_combinations() -> None:
    rng = np.random.default_rng(1)
    instances = [[rng.integers(0, 6, (count, 4)).astype(float) for count in (2, 3, 4)] for _ in range(3)]
    exact = np.mean(
        [np.mean([rankdata(each, axis=0) for each in product(*instance)], axis=0) for instance in instances], axis=0
    )
    error = 4 * 1.0 / np.sqrt(DRAWS * 3)  # a rank among three is at most one from its middle
    assert average_ranks(instances) == pytest.approx(exact, abs=error)
    assert np.abs(average_ranks(instances) - exact).max() > 0


def test_runs_are_drawn_for_each_method_on_its_own() -> None:
    """Paired, the second method would always be ahead by a hair and its rank one."""
    runs = np.arange(20.0)[:, None]
    assert average_ranks([[runs, runs - 0.5]])[:, 0] == pytest.approx([1.525, 1.475], abs=0.07)


def test_equal_seeds_give_equal_ranks_that_sum_to_the_same() -> None:
    rng = np.random.default_rng(2)
    instances = [[rng.normal(size=(5, 7)) for _ in range(4)] for _ in range(2)]
    first = average_ranks(instances, seed=3)
    assert np.array_equal(first, average_ranks(instances, seed=3))
    assert not np.array_equal(first, average_ranks(instances, seed=4))
    assert first.sum(axis=0) == pytest.approx(1 + 2 + 3 + 4)
