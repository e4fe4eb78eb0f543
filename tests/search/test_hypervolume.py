"""Fronts and hypervolumes, against definitions and random points."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.search.hypervolume import GrowingFront, front, hypervolume, undominated


def points(m: int, seed: int, *, ties: bool) -> Array:
    rng = default_rng(seed)
    n = int(rng.integers(1, 25))
    return rng.integers(0, 5, (n, m)) / 5 if ties else rng.random((n, m))


def dominated(U: Array, F: Array) -> Array:
    """Which rows of U (n, m) are nowhere better than some row of F, by definition."""
    return np.asarray((U[:, None, :] >= F[None, :, :]).all(axis=2).any(axis=1))


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("ties", [False, True])
def test_the_front_holds_what_nothing_dominates_and_each_point_once(m: int, ties: bool) -> None:
    for seed in range(20):
        F = points(m, seed, ties=ties)
        better = (F[:, None, :] <= F[None, :, :]).all(axis=2) & (F[:, None, :] < F[None, :, :]).any(axis=2)
        kept = ~better.any(axis=0)
        expected = {tuple(row) for row in F[kept]}
        found = front(F)
        assert sorted(map(tuple, F[found])) == sorted(expected)
        assert len(found) == len(expected)
        assert all(row == np.flatnonzero((F[row] == F).all(axis=1))[0] for row in found)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("level", [1.0, 0.7])
def test_boxes_cover_what_is_not_dominated_once(m: int, ties: bool, level: float) -> None:
    U = default_rng(0).random((5_000, m)) * level
    for seed in range(10):
        F = points(m, seed, ties=ties)
        boxes = undominated(F, np.full(m, level))
        inside = (U[:, None, :] >= boxes.lower) & (U[:, None, :] < boxes.upper)
        assert (inside.all(axis=2).sum(axis=1) == ~dominated(U, F)).all()


def test_the_volume_of_two_objectives_is_a_staircase() -> None:
    F = np.array([[0.1, 0.8], [0.4, 0.5], [0.6, 0.1], [0.7, 0.7], [0.2, 1.5]])
    stairs = (0.4 - 0.1) * (1.0 - 0.8) + (0.6 - 0.4) * (1.0 - 0.5) + (1.0 - 0.6) * (1.0 - 0.1)
    assert hypervolume(F, np.ones(2)) == pytest.approx(stairs, rel=1e-14)


@pytest.mark.parametrize("m", [3, 4])
def test_the_volume_of_more_is_that_of_the_union_of_all_boxes(m: int) -> None:
    for seed in range(5):
        F = points(m, seed, ties=False)[:8]
        union = 0.0
        for subset in range(1, 2 ** len(F)):  # inclusion and exclusion
            chosen = F[[bool(subset >> i & 1) for i in range(len(F))]]
            union += (-1.0) ** (len(chosen) + 1) * float((1.0 - chosen.max(axis=0)).prod())
        assert hypervolume(F, np.ones(m)) == pytest.approx(union, rel=1e-10)


def test_points_beyond_the_reference_count_for_nothing() -> None:
    assert hypervolume(np.array([[0.5, 1.0], [2.0, 0.1]]), np.ones(2)) == 0.0
    assert hypervolume(np.empty((0, 3)), np.ones(3)) == 0.0


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("ties", [False, True])
def test_the_volume_of_a_growing_front_is_that_of_all_points_so_far(m: int, ties: bool) -> None:
    for seed in range(10):
        F, reference = points(m, seed, ties=ties), np.full(m, 0.7)
        front = GrowingFront(reference, F[:3])
        volumes = [front.add(point) for point in F[3:]]
        assert volumes == pytest.approx([hypervolume(F[: k + 1], reference) for k in range(3, len(F))], abs=1e-12)
