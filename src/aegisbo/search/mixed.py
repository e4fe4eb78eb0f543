"""The inner search where parameters have levels or choices: go from neighbor to neighbor.

The lowest point of a relaxed function, rounded, is rarely the lowest that can be evaluated. So the search goes on where
rounding ends: one parameter at a time moves to another level or choice, in turn with the continuous coordinates, until
no such move leads down. A cube of few points is looked at in full instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Objective, on_branches, polish
from aegisbo.search.near_best import NearBestSearch
from aegisbo.space.cube import Axis, Continuous, Cube, Grid, OneHot

STRIDE = 4  # moves along a grid are 1, 4, 16, ... levels long, so that long grids are crossed in few of them
ROUNDS = 10  # of descent in turn; three are many, but rounding errors can make two equal points take turns forever


@dataclass(frozen=True)
class MixedSearch:
    """A search that compares only what can be evaluated; the same as `near_best` where everything is continuous."""

    near_best: NearBestSearch = field(default_factory=NearBestSearch)  # finds the starts
    listed: int = 1000  # points for each parameter: a cube of no more is looked at in full

    def __call__(self, objective: Objective, cube: Cube, rng: Generator, good: Array) -> Array:
        """The lowest first (k, width): all points of a small cube, else local minima, their neighbors and starts."""
        if cube.continuous:
            return self.near_best(objective, cube, rng, good)
        if cube.size <= self.listed * cube.parameters:
            return _lowest_first(objective, cube.every_point())
        objective = on_branches(objective, cube)
        starts = self.near_best.promising(objective, cube, rng, good)
        relaxed = polish(_Partly(objective, _coordinates(cube, Continuous, Grid)), starts)
        points = _lowest_first(objective, np.vstack([starts, cube.round_all(relaxed)]))
        minima = local_minima(objective, cube, points[: len(starts)])
        around = neighbors(cube, minima).reshape(-1, cube.width)
        return _lowest_first(objective, cube.without_absent(np.vstack([minima, around, points])))


def neighbors(cube: Cube, points: Array) -> Array:  # (k, width) -> (k, moves, width)
    """All points that differ in the level or choice of one parameter, on long grids only some of them.

    Moves beyond the end of a grid stop there, so a neighbor may come twice, or be the point itself.
    """
    moved = []
    for axis, columns in zip(cube.axes, cube.columns, strict=True):
        if isinstance(axis, Continuous):
            continue
        levels = _other_levels(axis, axis.levels(points[:, columns]))  # (k, m)
        around = np.repeat(points[:, None, :], levels.shape[1], axis=1)  # (k, m, width)
        around[:, :, columns] = axis.points(levels.ravel()).reshape(*levels.shape, axis.width)
        moved.append(around)
    return np.concatenate(moved or [points[:, None, :]], axis=1)


def local_minima(objective: Objective, cube: Cube, points: Array) -> Array:
    """The local minima (at most k, width) below points (k, width) that can be evaluated."""
    if cube.size < np.inf:
        return np.unique(_walk(objective, cube, points), axis=0)
    at_fixed_levels = _Partly(objective, _coordinates(cube, Continuous))
    for _ in range(ROUNDS):
        settled = cube.round_all(polish(at_fixed_levels, points))
        points = _walk(objective, cube, settled)
        if np.array_equal(points, settled):
            break
    return np.unique(points, axis=0)


def _walk(objective: Objective, cube: Cube, points: Array) -> Array:
    """Move each point to its lowest neighbor as long as that is lower; continuous coordinates stay as they are."""
    points, values = points.copy(), _values(objective, points)
    walking = np.arange(len(points))
    while len(walking):
        around = neighbors(cube, points[walking])  # (w, moves, width)
        heights = _values(objective, around.reshape(-1, cube.width)).reshape(len(walking), -1)  # (w, moves)
        lowest = heights.min(axis=1)
        down = np.flatnonzero(lowest < values[walking])
        walking = walking[down]
        points[walking] = around[down, heights[down].argmin(axis=1)]
        values[walking] = lowest[down]
    return points


@dataclass(frozen=True)
class _Partly:
    """The objective as a function of some coordinates: along the others it claims to be flat, so they are kept."""

    objective: Objective
    free: Array  # (width,) 1 for a coordinate that may move, else 0

    def screen(self, Z: Array) -> Floats:
        return self.objective.screen(Z)

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.objective.value_and_gradient(Z)
        return values, gradients * self.free


def _coordinates(cube: Cube, *kinds: type[Axis]) -> Array:  # (width,)
    """1 for the coordinates of axes of these kinds, else 0."""
    return np.concatenate([np.full(axis.width, float(isinstance(axis, kinds))) for axis in cube.axes])


def _other_levels(axis: Grid | OneHot, levels: Index) -> Index:  # (k,) -> (k, moves)
    if isinstance(axis, OneHot):
        return (levels[:, None] + np.arange(1, axis.size)) % axis.size
    lengths = [1]
    while lengths[-1] * STRIDE < axis.size:
        lengths.append(lengths[-1] * STRIDE)
    moves = np.array([*lengths, *(-length for length in lengths)])
    return np.asarray(np.clip(levels[:, None] + moves, 0, axis.size - 1))


def _values(objective: Objective, Z: Array) -> Array:  # (m, width) -> (m,)
    """In double precision, unlike what is screened."""
    return by_blocks(lambda block: objective.value_and_gradient(block)[0], Z)


def _lowest_first(objective: Objective, points: Array) -> Array:
    """The distinct points in the order of their values."""
    distinct = np.unique(points, axis=0)
    return distinct[np.argsort(_values(objective, distinct), kind="stable")]
