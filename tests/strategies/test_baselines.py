from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import qmc

from aegisbo import Choice, Int, Optimizer
from aegisbo.space.cube import Continuous, Cube, OneHot
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.baselines import Random

CUBE = Cube((Continuous(),) * 3)


def asks(strategy: Random, count: int, cube: Cube = CUBE, first_seed: int = 0):
    """Points (count, width) asked for one after the other, each with its own random numbers, as the optimizer does."""
    none = np.empty((0, cube.width))
    evidence, memory, points = Evidence(none, np.empty(0), none, none, cube), {}, []
    for seed in range(first_seed, first_seed + count):
        suggestion = strategy.suggest(evidence, memory, np.random.default_rng(seed))
        memory = suggestion.memory
        points.append(suggestion.x)
    return np.array(points)


@pytest.mark.parametrize("n", [1, 7, 196])
def test_n_asks_are_a_latin_hypercube(n):
    for column in asks(Random(n=n), n).T:
        assert sorted(np.floor(column * n)) == list(range(n))


def test_the_latin_hypercube_is_the_best_of_some():
    """Its closest pair is farther apart than that of a plain Latin hypercube, on average."""
    maximin = [pdist(asks(Random(n=8), 8, first_seed=100 * k)).min() for k in range(30)]
    plain = [pdist(qmc.LatinHypercube(3, rng=k).random(8)).min() for k in range(300)]
    assert np.mean(maximin) > np.mean(plain) + 4 * np.std(plain) / np.sqrt(30)


def test_after_n_asks_another_design_begins():
    points = asks(Random(n=5), 15)
    for design in (points[:5], points[5:10], points[10:]):
        for column in design.T:
            assert sorted(np.floor(column * 5)) == list(range(5))
    assert len(np.unique(points, axis=0)) == 15


def test_without_n_the_points_are_spread_evenly_and_never_repeat():
    points = asks(Random(), 128)
    assert len(np.unique(points, axis=0)) == 128
    for column in points.T:  # each coordinate of a Sobol' sequence visits all 2^k slices before any twice
        assert sorted(np.floor(column * 128)) == list(range(128))
    independent = [qmc.discrepancy(np.random.default_rng(k).random((128, 3))) for k in range(50)]
    assert qmc.discrepancy(points) < 0.5 * min(independent)


def test_other_seeds_give_other_designs():
    assert not np.any(asks(Random(), 10) == asks(Random(), 10, first_seed=50))
    assert not np.any(asks(Random(n=10), 10) == asks(Random(n=10), 10, first_seed=50))


def test_choices_get_equal_shares():
    points = asks(Random(n=12), 12, Cube((OneHot(3), OneHot(4))))
    np.testing.assert_array_equal(points.sum(axis=0), [4, 4, 4, 3, 3, 3, 3])


def test_results_do_not_matter():
    def run(values) -> list:
        optimizer = Optimizer({"a": (-5, 10), "b": Int(2, 90), "c": Choice([True, None])}, strategy="random", seed=4)
        for value in values:
            optimizer.tell(optimizer.ask(), value)
        return [trial.params for trial in optimizer.trials]

    assert run(range(20)) == run(range(20, 0, -1))
