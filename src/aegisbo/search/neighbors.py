"""Points that differ in the level or choice of one parameter, and walks from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Objective
from aegisbo.space.cube import Axis, Continuous, Cube, Grid, OneHot

STRIDE = 4  # moves along a grid are 1, 4, 16, ... levels long, so that long grids are crossed in few of them


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


def walk(objective: Objective, cube: Cube, points: Array) -> Array:
    """Move each point to its lowest neighbor as long as that is lower; continuous coordinates stay as they are."""
    points, values = points.copy(), values_of(objective, points)
    walking = np.arange(len(points))
    while len(walking):
        around = neighbors(cube, points[walking])  # (w, moves, width)
        heights = values_of(objective, around.reshape(-1, cube.width)).reshape(len(walking), -1)  # (w, moves)
        lowest = heights.min(axis=1)
        down = np.flatnonzero(lowest < values[walking])
        walking = walking[down]
        points[walking] = around[down, heights[down].argmin(axis=1)]
        values[walking] = lowest[down]
    return points


@dataclass(frozen=True)
class Partly:
    """The objective as a function of some coordinates: along the others it claims to be flat, so they are kept."""

    objective: Objective
    free: Array  # (width,) 1 for a coordinate that may move, else 0

    def screen(self, Z: Array) -> Floats:
        return self.objective.screen(Z)

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.objective.value_and_gradient(Z)
        return values, gradients * self.free


def coordinates(cube: Cube, *kinds: type[Axis]) -> Array:  # (width,)
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


def values_of(objective: Objective, Z: Array) -> Array:  # (m, width) -> (m,)
    """In double precision, unlike what is screened."""
    return by_blocks(lambda block: objective.value_and_gradient(block)[0], Z)


def lowest_first(objective: Objective, points: Array) -> Array:
    """The distinct points in the order of their values."""
    distinct = np.unique(points, axis=0)
    return distinct[np.argsort(values_of(objective, distinct), kind="stable")]
