from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.space.cube import Continuous, Cube, Grid, OneHot

MIXED = Cube((Continuous(), Grid(-3, 9, 2), OneHot(3), Grid(2, 50, 4, log=True)))
FINITE = Cube((Grid(-3, 9, 2), OneHot(3), Grid(1, 5, log=True)))

grids = st.builds(
    lambda low, step, count, log: Grid(low, low + step * (count - 1), step, log),
    low=st.integers(1, 50),
    step=st.integers(1, 9),
    count=st.integers(2, 200),
    log=st.booleans(),
)


def levels_of(grid: Grid) -> np.ndarray:
    """All levels, listed: what `Grid` must behave like without ever listing them."""
    return np.arange(grid.low, grid.high + grid.step / 2, grid.step)


def test_a_continuous_cube_leaves_points_alone():
    cube = Cube((Continuous(),) * 3)
    Z = np.random.default_rng(0).random((5, 3))
    assert cube.round(Z) is Z
    assert cube.fill(Z) is Z
    assert cube.continuous
    assert (cube.parameters, cube.width, cube.size) == (3, 3, math.inf)


def test_a_choice_is_one_parameter_of_many_coordinates():
    assert (MIXED.parameters, MIXED.width, MIXED.size) == (4, 6, math.inf)
    assert (FINITE.parameters, FINITE.width, FINITE.size) == (3, 5, 7 * 3 * 5)
    assert MIXED.columns == (slice(0, 1), slice(1, 2), slice(2, 5), slice(5, 6))


def test_the_size_of_a_cube_may_exceed_every_float():
    grids = (Grid(0, 10**12),) * 30
    assert Cube(grids).size == (10**12 + 1) ** 30
    assert Cube((*grids, Continuous())).size == math.inf


@given(st.integers(0, 2**32))
def test_rounding_is_idempotent_and_touches_only_what_is_discrete(seed):
    Z = np.random.default_rng(seed).random((20, MIXED.width))
    rounded = MIXED.round(Z)
    np.testing.assert_array_equal(MIXED.round(rounded), rounded)
    np.testing.assert_array_equal(rounded[:, 0], Z[:, 0])
    np.testing.assert_array_equal(np.sort(rounded[:, 2:5]), np.tile([0, 0, 1], (20, 1)))


@given(grids, st.integers(0, 2**32))
def test_a_grid_rounds_to_the_nearest_level(grid, seed):
    scale = np.log(levels_of(grid)) if grid.log else levels_of(grid)
    gaps = np.diff(scale)
    first, last = scale[0] - gaps[0] / 2, scale[-1] + gaps[-1] / 2
    positions = (scale - first) / (last - first)
    u = np.random.default_rng(seed).random(50)
    nearest = positions[np.abs(u[:, None] - positions).argmin(axis=1)]
    np.testing.assert_allclose(grid.round(u[:, None])[:, 0], nearest, atol=1e-12)


@given(grids)
def test_every_level_keeps_its_place(grid):
    levels = np.arange(grid.size)
    assert grid.size == len(levels_of(grid))
    np.testing.assert_array_equal(grid.levels(grid.points(levels)), levels)


def test_points_outside_the_cube_belong_to_the_ends():
    for grid in (Grid(-3, 9, 2), Grid(2, 50, 4, log=True)):
        np.testing.assert_array_equal(
            grid.levels(np.array([[-0.5], [0.0], [1.0], [1.5]])), [0, 0, *[grid.size - 1] * 2]
        )


@pytest.mark.parametrize("axis", [Grid(-3, 9, 2), OneHot(7)])
def test_uniform_numbers_hit_all_levels_equally_often(axis):
    u = (np.arange(700) + 0.5) / 700
    levels, counts = np.unique(axis.levels(axis.fill(u)), return_counts=True)
    np.testing.assert_array_equal(levels, np.arange(7))
    np.testing.assert_array_equal(counts, 100)


@pytest.mark.parametrize("log", [False, True])
def test_a_grid_of_a_billion_levels_is_never_listed(log):
    grid = Grid(1, 10**12, 1, log)
    levels = np.array([0, 1, 2, 10**6, 10**12 - 2, 10**12 - 1])
    np.testing.assert_array_equal(grid.levels(grid.points(levels)), levels)


def test_a_one_hot_block_takes_its_largest_coordinate():
    Z = np.array([[0.2, 0.9, 0.3], [0.4, 0.1, 0.4], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(OneHot(3).round(Z), [[0, 1, 0], [1, 0, 0], [1, 0, 0]])


def test_fill_gives_points_that_need_no_rounding():
    filled = MIXED.fill(np.random.default_rng(1).random((40, MIXED.parameters)))
    assert filled.shape == (40, MIXED.width)
    np.testing.assert_array_equal(MIXED.round(filled), filled)


def test_fill_reaches_the_last_choice_at_one():
    np.testing.assert_array_equal(OneHot(3).fill(np.array([0.0, 0.34, 1.0])), np.eye(3))


def test_every_point_of_a_finite_cube_has_a_key():
    points = FINITE.every_point
    assert len(set(FINITE.keys(points))) == len(np.unique(points, axis=0)) == FINITE.size
    np.testing.assert_array_equal(FINITE.round(points), points)


def test_unused_points_until_none_is_left():
    start = FINITE.fill(np.array([[0.6, 0.6, 0.6]]))[0]
    taken = np.empty((0, FINITE.width))
    while not FINITE.exhausted(taken):
        taken = np.vstack([taken, FINITE.unused(start, taken)])
    np.testing.assert_array_equal(taken[0], start)
    np.testing.assert_array_equal(FINITE.unused(start, taken), start)
    assert len(taken) == len(np.unique(taken, axis=0)) == FINITE.size


def test_repeated_points_do_not_exhaust_a_cube():
    third, fourth = FINITE.every_point[3:5]
    taken = np.tile(third, (500, 1))
    assert not FINITE.exhausted(taken)
    np.testing.assert_array_equal(FINITE.unused(third, taken), fourth)


def test_an_infinite_cube_is_never_exhausted():
    z = MIXED.fill(np.array([[0.5, 0.5, 0.5, 0.5]]))[0]
    assert not MIXED.exhausted(np.tile(z, (100, 1)))
    assert MIXED.unused(z, z[None]) is z
