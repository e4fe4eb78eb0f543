"""Points that differ in the level or choice of one parameter, and walks from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array, Floats, Index, Mask
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Acquisition
from aegisbo.space.cube import Axis, Continuous, Cube, Grid, OneHot

MANY = 64  # values of a choice; of the moves to more than these only the lowest are looked at closely
LOWEST = 8  # moves that are looked at closely; screening tells them from the others
FIRST = 256  # points that are put in order exactly; screening tells them from the others
STRIDE = 4  # moves along a grid are 1, 4, 16, ... levels long, so that long grids are crossed in few of them


def neighbors(objective: Acquisition, cube: Cube, points: Array) -> Array:  # (k, width) -> (k, moves, width)
    """All points that differ in the level or choice of one parameter, on long grids only some of them.

    Moves beyond the end of a grid stop there, so a neighbor may come twice, or be the point itself. Of a choice with
    many values the neighbors are those to which the objective, screened, sinks lowest.
    """
    moved = []
    for axis, columns in zip(cube.axes, cube.columns, strict=True):
        if isinstance(axis, Continuous):
            continue
        levels = _other_levels(axis, axis.levels(points[:, columns]))  # (k, m)
        if isinstance(axis, OneHot) and axis.size > MANY:
            each = zip(points, levels, strict=True)
            levels = np.stack([_lowest_levels(objective, axis, columns, *one) for one in each])
        moved.append(_at_levels(axis, columns, points, levels))
    return np.concatenate(moved or [points[:, None, :]], axis=1)


def _at_levels(axis: Grid | OneHot, columns: slice, points: Array, levels: Index) -> Array:
    """The points (k, width), each at several levels (k, m) of one axis: (k, m, width)."""
    around = np.repeat(points[:, None, :], levels.shape[1], axis=1)
    around[:, :, columns] = axis.points(levels.ravel()).reshape(*levels.shape, axis.width)
    return around


def _lowest_levels(objective: Acquisition, axis: OneHot, columns: slice, point: Array, levels: Index) -> Index:
    """Those of the levels (m,) at which the point (width,) is lowest, as far as screening can tell (LOWEST,)."""
    values = by_blocks(lambda some: objective.screen(_at_levels(axis, columns, point[None], some[None])[0]), levels)
    return np.asarray(levels[np.argpartition(values, LOWEST)[:LOWEST]])


def walk(objective: Acquisition, cube: Cube, points: Array) -> Array:
    """Move each point to its lowest neighbor as long as that is lower; continuous coordinates stay as they are."""
    points, values = points.copy(), values_of(objective, points)
    walking = np.arange(len(points))
    while len(walking):
        around = neighbors(objective, cube, points[walking])  # (w, moves, width)
        around = _promising(objective, around, _unmoved(cube, points[walking], around))
        heights = values_of(objective, around.reshape(-1, cube.width)).reshape(len(walking), -1)  # (w, moves)
        heights[_unmoved(cube, points[walking], around)] = np.inf
        lowest = heights.min(axis=1)
        down = np.flatnonzero(lowest < values[walking])
        walking = walking[down]
        points[walking] = around[down, heights[down].argmin(axis=1)]
        values[walking] = lowest[down]
    return points


def _unmoved(cube: Cube, points: Array, around: Array) -> Mask:
    """Which neighbors (w, moves) are the points (w, width) themselves, but for axes that are not there."""
    there = cube.without_absent(around.reshape(-1, cube.width)).reshape(around.shape)
    return np.asarray((there == cube.without_absent(points)[:, None]).all(axis=2))


def _promising(objective: Acquisition, around: Array, unmoved: Mask) -> Array:
    """Of the neighbors (w, moves, width) the LOWEST that have moved, as far as screening can tell."""
    w, moves, width = around.shape
    if moves <= LOWEST:
        return around
    heights = by_blocks(objective.screen, around.reshape(-1, width)).reshape(w, moves)
    heights = np.where(unmoved, np.inf, heights)
    lowest = np.sort(np.argpartition(heights, LOWEST - 1, axis=1)[:, :LOWEST], axis=1)
    return np.take_along_axis(around, lowest[:, :, None], axis=1)


@dataclass(frozen=True)
class Partly:
    """The objective as a function of some coordinates: along the others it claims to be flat, so they are kept."""

    objective: Acquisition
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


def values_of(objective: Acquisition, Z: Array) -> Array:  # (m, width) -> (m,)
    """In double precision, unlike what is screened."""
    return by_blocks(lambda block: objective.value_and_gradient(block)[0], Z)


def lowest_first(objective: Acquisition, cube: Cube, points: Array) -> Array:
    """The distinct points, which can be evaluated, in the order of their values; of many all but the first roughly."""
    _, first = np.unique(_in_short(cube, points), axis=0, return_index=True)
    rest = points[:0]
    if len(first) > FIRST:
        rough = np.argsort(by_blocks(objective.screen, points[first]), kind="stable")
        first, rest = first[np.sort(rough[:FIRST])], points[first[rough[FIRST:]]]
    distinct = points[first]
    return np.vstack([distinct[np.argsort(values_of(objective, distinct), kind="stable")], rest])


def _in_short(cube: Cube, points: Array) -> Array:  # (m, width) -> (m, parameters)
    """One number for each parameter, in which the points have the same order: rows of hundreds are sorted slowly."""
    short = []
    for axis, columns in zip(cube.axes, cube.columns, strict=True):
        block = points[:, columns]
        if isinstance(axis, OneHot):  # the first choice has the first 1, and is the last in order
            block = np.where(block[:, :1] < 0.0, -axis.size, -axis.levels(block)[:, None])  # absent ones come first
        short.append(block)
    return np.hstack(short)
