"""Designs fill every slice, keep their distance and can be continued."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, qmc

from aegisbo.search import designs
from aegisbo.search.designs import latin_hypercube, maximin_latin_hypercube, sobol


def smallest_distance(X):
    return min((float(np.linalg.norm(a - b)) for i, a in enumerate(X) for b in X[:i]), default=np.inf)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (20, 10), (180, 2)])
@pytest.mark.parametrize("design", [latin_hypercube, maximin_latin_hypercube])
def test_every_slice_of_every_coordinate_holds_one_point(design, n, d):
    X = design(n, d, np.random.default_rng([n, d]))
    assert X.shape == (n, d)
    slices = np.sort(np.floor(X * n), axis=0)
    np.testing.assert_array_equal(slices, np.tile(np.arange(n)[:, None], (1, d)))


def test_points_lie_anywhere_in_their_slices_and_coordinates_are_shuffled_apart():
    X = latin_hypercube(2000, 2, np.random.default_rng(3))
    assert kstest((X * 2000 % 1.0).ravel(), "uniform").pvalue > 0.01
    assert abs(np.corrcoef(X.T)[0, 1]) < 4 / np.sqrt(2000)


@pytest.mark.parametrize(("n", "d", "candidates"), [(2, 1, 5), (10, 5, 5), (13, 2, 3), (4, 3, 1)])
def test_maximin_takes_the_best_of_its_candidates(n, d, candidates):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        drawn = [latin_hypercube(n, d, rng) for _ in range(candidates)]
        best = max(drawn, key=smallest_distance)
        np.testing.assert_array_equal(maximin_latin_hypercube(n, d, np.random.default_rng(seed), candidates), best)


def test_large_designs_are_compared_alike(monkeypatch):
    whole = maximin_latin_hypercube(50, 3, np.random.default_rng(4))
    monkeypatch.setattr(designs, "MOST_IN_PAIRS", 10)
    np.testing.assert_array_equal(maximin_latin_hypercube(50, 3, np.random.default_rng(4)), whole)


@pytest.mark.parametrize("design", [latin_hypercube, maximin_latin_hypercube, sobol])
def test_no_points_are_an_empty_design(design):
    assert design(0, 3, np.random.default_rng(0)).shape == (0, 3)


def test_a_shorter_sobol_design_begins_a_longer_one():
    whole = sobol(100, 3, np.random.default_rng(8))
    for k in (1, 2, 3, 31, 64, 100):
        np.testing.assert_array_equal(sobol(k, 3, np.random.default_rng(8)), whole[:k])


def test_skipping_continues_the_sequence():
    whole = sobol(100, 3, np.random.default_rng(8))
    for start, stop in ((0, 1), (1, 2), (16, 29), (64, 100), (99, 100)):
        np.testing.assert_array_equal(sobol(stop - start, 3, np.random.default_rng(8), skip=start), whole[start:stop])


def test_sobol_follows_the_state_of_the_generator_and_nothing_else():
    rng = np.random.default_rng(8)
    first, second = sobol(5, 2, rng), sobol(5, 2, rng)
    assert not np.array_equal(first, second)
    moved = np.random.default_rng(8)
    moved.random()
    assert not np.array_equal(sobol(5, 2, moved), first)
    spawned = np.random.default_rng(8)
    spawned.spawn(1)  # leaves the state alone
    np.testing.assert_array_equal(sobol(5, 2, spawned), first)


def test_sixty_four_sobol_points_fill_every_slice():
    X = sobol(64, 5, np.random.default_rng(2))
    assert X.min() >= 0.0
    assert X.max() < 1.0
    slices = np.sort(np.floor(X * 64), axis=0)
    np.testing.assert_array_equal(slices, np.tile(np.arange(64)[:, None], (1, 5)))


def test_sobol_fills_more_evenly_than_chance():
    for n, d in ((50, 2), (300, 5)):
        rng = np.random.default_rng([n, d])
        uniform = np.median([qmc.discrepancy(rng.random((n, d))) for _ in range(20)])
        assert qmc.discrepancy(sobol(n, d, rng)) < uniform / 2
