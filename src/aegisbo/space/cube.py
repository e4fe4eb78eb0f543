"""The user's space as strategies see it: a unit cube, and which of its points can be evaluated."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index, Mask
from aegisbo.space.branches import Branches
from aegisbo.space.guess import Guess


@dataclass(frozen=True)
class Continuous:
    """One coordinate that takes any value of [0, 1]."""

    width = 1
    size = math.inf

    def round(self, Z: Array) -> Array:  # (m, 1) -> (m, 1)
        return Z

    def fill(self, u: Array) -> Array:  # (m,) -> (m, 1)
        return u[:, None]


@dataclass(frozen=True)
class Grid:
    """One coordinate on the levels low, low + step, ..., high (two or more), spaced as they are or by their logarithm.

    A point belongs to the nearest level, and the first and last level own as much outside as inside. On a linear grid
    all cells are therefore equal, and uniform numbers hit every level equally often. Levels are computed, never listed.
    """

    low: float
    high: float
    step: float = 1.0
    log: bool = False

    width = 1

    @cached_property
    def size(self) -> int:
        return round((self.high - self.low) / self.step) + 1

    def levels(self, Z: Array) -> Index:  # (m, 1) -> (m,)
        """The number of the level, 0 to size - 1, that each point belongs to."""
        u = Z[:, 0]
        if not self.log:
            return np.clip(np.floor(u * self.size), 0, self.size - 1).astype(np.intp)
        first, last = self._edges
        t = first + u * (last - first)
        below = np.clip(np.floor((np.exp(t) - self.low) / self.step), 0, self.size - 2)
        border = (self._logarithm(below) + self._logarithm(below + 1)) / 2
        return (below + (t > border)).astype(np.intp)

    def points(self, levels: Index) -> Array:  # (m,) -> (m, 1)
        if not self.log:
            return ((levels + 0.5) / self.size)[:, None]
        first, last = self._edges
        return ((self._logarithm(levels) - first) / (last - first))[:, None]

    def round(self, Z: Array) -> Array:  # (m, 1) -> (m, 1)
        return self.points(self.levels(Z))

    def fill(self, u: Array) -> Array:  # (m,) -> (m, 1)
        return self.round(u[:, None])

    @cached_property
    def _edges(self) -> tuple[float, float]:
        """The logarithms at coordinates 0 and 1: half a gap outside the first and the last level."""
        first, second, last_but_one, last = self._logarithm(np.array([0, 1, self.size - 2, self.size - 1]))
        return float(1.5 * first - 0.5 * second), float(1.5 * last - 0.5 * last_but_one)

    def _logarithm(self, levels: Array | Index) -> Array:
        return np.log(self.low + levels * self.step)


@dataclass(frozen=True)
class OneHot:
    """A block of coordinates, one for each choice: 1 for the chosen one, 0 for the others."""

    size: int

    @property
    def width(self) -> int:
        return self.size

    def levels(self, Z: Array) -> Index:  # (m, size) -> (m,)
        """The index of the largest coordinate; of the first one if they are equal."""
        return np.asarray(Z.argmax(axis=1))

    def points(self, levels: Index) -> Array:  # (m,) -> (m, size)
        return np.equal(levels[:, None], np.arange(self.size)).astype(np.float64)

    def round(self, Z: Array) -> Array:  # (m, size) -> (m, size)
        return self.points(self.levels(Z))

    def fill(self, u: Array) -> Array:  # (m,) -> (m, size)
        return self.points(np.clip(np.floor(u * self.size), 0, self.size - 1).astype(np.intp))


Axis = Continuous | Grid | OneHot

ABSENT = -0.4  # coordinate of axes that do not exist: one place outside the cube, away from every value
LOOKED_AT = 4096  # random points tried at a time against the constraints
TIMES = 16  # tries before points are moved towards the constraints
ROUNDS = 60  # of moving
KEPT = 64
ROOM = 10.0 ** -np.arange(2, 11)  # distances at which a point must have allowed neighbors
LOOKS = 2  # tries at each distance
COUNTED = 100_000  # most points of a finite cube with conditions or constraints that are counted


class Rules(Protocol):
    """Constraints on points, given which axes exist."""

    def allow(self, Z: Array, active: Mask) -> Mask:
        """Which points (m, width) keep all of them (m,)."""

    def slacks(self, Z: Array, active: Mask) -> Array:
        """By how much points (m, width) keep each constraint that has a slack (m, r), below 0 if broken."""


@dataclass(frozen=True)
class Cube:
    """The unit cube with one axis for each parameter, and the rounding of its points to what will be evaluated.

    If a condition removes an axis, its coordinates are `ABSENT`: two points are the same if they agree on the axes that
    exist.
    """

    axes: tuple[Axis, ...]
    branches: Branches | None = None  # None: all axes exist at all points
    rules: Rules | None = None  # None: all points are allowed
    guess: Guess | None = None  # where the best point is expected; None: nobody has said

    @property
    def parameters(self) -> int:
        """The d of the paper; a choice counts once, however many coordinates it takes."""
        return len(self.axes)

    @cached_property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(axis.width for axis in self.axes)

    @cached_property
    def size(self) -> float:
        """The number of distinct points that are allowed: an int, or infinity if an axis is continuous.

        It may be too large in a cube of more than `COUNTED` points with conditions or constraints.
        """
        if self._levels is not None:
            return len(self._levels if self.rules is None else self.every_point)
        sizes = [axis.size for axis in self.axes]
        return math.inf if math.inf in sizes else math.prod(sizes)

    @cached_property
    def _levels(self) -> Index | None:
        """Of all points of a finite cube (m, parameters), allowed or not; None if there are more than `COUNTED`."""
        if len(self._discrete) < self.parameters:
            return None
        return self._conditions.levels([axis.size for axis in self._discrete], COUNTED)

    def allowed(self, Z: Array) -> Mask:  # (m, width) -> (m,)
        """Which points keep the constraints; they may have coordinates of all axes."""
        return np.full(len(Z), True) if self.rules is None else self.rules.allow(Z, self.active(Z))

    def slacks(self, Z: Array) -> Array:  # (m, width) -> (m, r)
        """By how much points keep each constraint that has a slack, below 0 if broken."""
        return np.empty((len(Z), 0)) if self.rules is None else self.rules.slacks(Z, self.active(Z))

    def violation(self, Z: Array) -> Array:  # (m, width) -> (m,)
        """How far points are from keeping the constraints: 0 if they do, or if it is unknown."""
        return np.asarray((np.minimum(self.slacks(Z), 0.0) ** 2).sum(axis=1))

    @cached_property
    def first_allowed(self) -> Array:
        """Some points that keep the constraints (m, width), with coordinates of all axes; empty if none was found."""
        rng, shape = np.random.default_rng(0), (LOOKED_AT, self.width)
        for _ in range(TIMES):
            Z = self.fill_all(rng.random((LOOKED_AT, self.parameters)))
            inside = Z[self.allowed(Z)]
            if len(inside):
                return inside[:KEPT]
        best = Z[np.argsort(self.violation(Z), kind="stable")[:KEPT]]
        for k in range(ROUNDS):
            steps = 0.3 * 0.85**k * rng.standard_normal(shape) * (rng.random(shape) < 0.5)
            Z = self.round_all(np.clip(best[rng.integers(len(best), size=LOOKED_AT)] + steps, 0.0, 1.0))
            inside = _with_room(self, Z[self.allowed(Z)][:KEPT], rng)
            if len(inside):
                return inside
            Z = np.vstack([best, Z])
            best = Z[np.argsort(self.violation(Z), kind="stable")[:KEPT]]
        return Z[:0]

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """Where each axis lies among the coordinates."""
        ends = list(accumulate(axis.width for axis in self.axes))
        return tuple(slice(end - axis.width, end) for axis, end in zip(self.axes, ends, strict=True))

    @cached_property
    def continuous(self) -> bool:
        """Whether every axis is continuous and always exists, so that nothing needs rounding."""
        return self.branches is None and all(isinstance(axis, Continuous) for axis in self.axes)

    def round(self, Z: Array) -> Array:  # (m, width) -> (m, width)
        """The nearest points that can be evaluated; `Z` itself where everything is continuous."""
        return self.without_absent(self.round_all(Z))

    def round_all(self, Z: Array) -> Array:  # (m, width) -> (m, width)
        """As `round`, but with coordinates of all axes, also of those that do not exist."""
        if self.continuous:
            return Z
        return np.hstack([axis.round(Z[:, columns]) for axis, columns in zip(self.axes, self.columns, strict=True)])

    def fill(self, U: Array) -> Array:  # (m, parameters) -> (m, width)
        """Points that can be evaluated, from numbers in [0, 1], one for each parameter: all levels get equal shares."""
        return self.without_absent(self.fill_all(U))

    def fill_all(self, U: Array) -> Array:  # (m, parameters) -> (m, width)
        """As `fill`, but with coordinates of all axes, also of those that do not exist."""
        if self.continuous:
            return U
        return np.hstack([axis.fill(U[:, k]) for k, axis in enumerate(self.axes)])

    def active(self, Z: Array) -> Mask:  # (m, width) -> (m, parameters)
        """Which axes exist."""
        if self.branches is None:
            return np.full((len(Z), self.parameters), True)
        return self.branches.active(self._places(Z, self.branches.parents))

    def present(self, Z: Array) -> Mask:  # (m, width) -> (m, width)
        """Which coordinates exist."""
        return np.repeat(self.active(Z), [axis.width for axis in self.axes], axis=1)

    def without_absent(self, Z: Array) -> Array:  # (m, width) -> (m, width)
        """The points with `ABSENT` on axes that do not exist."""
        return Z if self.branches is None else np.where(self.present(Z), Z, Z.dtype.type(ABSENT))

    def _places(self, Z: Array, of: Container[int] | None = None) -> list[Array | Index]:  # (m, width) -> d times (m,)
        """The level of each axis, or its coordinate if it is continuous, or if only those `of` others are wanted."""
        blocks = [(axis, Z[:, columns]) for axis, columns in zip(self.axes, self.columns, strict=True)]
        return [
            block[:, 0] if isinstance(axis, Continuous) or (of is not None and k not in of) else axis.levels(block)
            for k, (axis, block) in enumerate(blocks)
        ]

    def keys(self, Z: Array) -> list[tuple[float, ...]]:  # (m, width)
        """The levels of each point: two points are the same if their keys are."""
        places = self._places(self.without_absent(Z))
        return list(zip(*(each.tolist() for each in places), strict=True))

    @cached_property
    def every_point(self) -> Array:  # (size, width)
        """All points of a small finite cube that are allowed, in the order of a counter."""
        assert self._levels is not None
        points = self._at(self._levels)
        return points[self.allowed(points)]

    def _at(self, levels: Index) -> Array:  # (m, parameters) -> (m, width)
        return self.without_absent(
            np.hstack([axis.points(level) for axis, level in zip(self._discrete, levels.T, strict=True)])
        )

    def exhausted(self, taken: Array) -> bool:  # (m, width)
        """Whether `taken` holds every point of the cube."""
        return len(taken) >= self.size and len(set(self.keys(taken[self.allowed(taken)]))) == self.size

    def unused(self, z: Array, taken: Array) -> Array:  # (width,), (m, width) -> (width,)
        """`z`, or if `taken` holds it, the next allowed point after it that is not taken.

        It is also `z` if no point is left, or if an axis is continuous, so that points hardly ever coincide.
        """
        if self.size == math.inf or self.exhausted(taken):
            return z
        if self.rules is not None and self._levels is None:  # a walk through so many points is not worth it
            return z
        used = set(self.keys(taken))
        while self.keys(z[None])[0] in used or not self.allowed(z[None])[0]:
            z = self._next(z)
        return z

    def _next(self, z: Array) -> Array:  # (width,) -> (width,)
        """The point after this one; after the last comes the first.

        As on a counter: the last axis that exists and can advance does, and those after it start again.
        """
        levels, active = np.array(self._places(z[None]), np.intp).T, self.active(z[None])[0]
        for k in reversed(self._conditions.order):
            if active[k] and levels[0, k] + 1 < self._discrete[k].size:
                levels[0, k] += 1
                break
            levels[0, k] = 0
        return np.asarray(self._at(levels)[0])

    @property
    def _conditions(self) -> Branches:
        return self.branches or Branches(((),) * self.parameters)

    @property
    def _discrete(self) -> tuple[Grid | OneHot, ...]:
        return tuple(axis for axis in self.axes if not isinstance(axis, Continuous))


def _with_room(cube: Cube, Z: Array, rng: Generator) -> Array:
    """Those of some allowed points (m, width) near which others are allowed that differ in all real coordinates.

    An equation between real numbers leaves no room, but corners of the cube may solve it.
    """
    room = np.full(len(Z), False)
    real = np.repeat([axis.size == math.inf for axis in cube.axes], [axis.width for axis in cube.axes])
    for size in np.repeat(ROOM, LOOKS):
        steps = size * rng.uniform(-1.0, 1.0, Z.shape) * real
        beyond = (Z + steps < 0.0) | (Z + steps > 1.0)
        room |= cube.allowed(Z + np.where(beyond, -steps, steps))
    return np.asarray(Z[room])
