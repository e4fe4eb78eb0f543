"""What strategies know of the user's space: a unit cube, and where on it a point can really be evaluated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from aegisbo.arrays import Array, Index
from aegisbo.errors import InvalidInput


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
    """A block of `count` coordinates, one for each choice: 1 for the chosen one, 0 for the others."""

    count: int

    @property
    def width(self) -> int:
        return self.count

    @property
    def size(self) -> int:
        return self.count

    def levels(self, Z: Array) -> Index:  # (m, count) -> (m,)
        """The number of the largest coordinate, of the first one if they are equal."""
        return np.asarray(Z.argmax(axis=1))

    def points(self, levels: Index) -> Array:  # (m,) -> (m, count)
        return np.equal(levels[:, None], np.arange(self.count)).astype(np.float64)

    def round(self, Z: Array) -> Array:  # (m, count) -> (m, count)
        return self.points(self.levels(Z))

    def fill(self, u: Array) -> Array:  # (m,) -> (m, count)
        return self.points(np.clip(np.floor(u * self.count), 0, self.count - 1).astype(np.intp))


Axis = Continuous | Grid | OneHot


@dataclass(frozen=True)
class Cube:
    """The unit cube with one axis for each parameter, and the rounding of its points to what will be evaluated."""

    axes: tuple[Axis, ...]

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
        """The number of distinct points: an int, or infinity if an axis is continuous."""
        sizes = [axis.size for axis in self.axes]
        return math.inf if math.inf in sizes else math.prod(sizes)

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """Where each axis lies among the coordinates."""
        ends = list(accumulate(axis.width for axis in self.axes))
        return tuple(slice(end - axis.width, end) for axis, end in zip(self.axes, ends, strict=True))

    @cached_property
    def continuous(self) -> bool:
        """Whether every axis is continuous, so that there is nothing to round."""
        return all(isinstance(axis, Continuous) for axis in self.axes)

    def round(self, Z: Array) -> Array:  # (m, width) -> (m, width)
        """The nearest points that can be evaluated; `Z` itself where everything is continuous."""
        if self.continuous:
            return Z
        return np.hstack([axis.round(Z[:, columns]) for axis, columns in zip(self.axes, self.columns, strict=True)])

    def fill(self, U: Array) -> Array:  # (m, parameters) -> (m, width)
        """Points that can be evaluated, from numbers in [0, 1], one for each parameter: all levels get equal shares."""
        if self.continuous:
            return U
        return np.hstack([axis.fill(U[:, k]) for k, axis in enumerate(self.axes)])

    def keys(self, Z: Array) -> list[int]:  # (m, width)
        """The number of each point, 0 to size - 1, in a finite cube: two points are the same if their keys are."""
        keys = np.zeros(len(Z), dtype=object)  # Python integers: the size of a cube may exceed 64 bits
        for axis, columns in zip(self._discrete, self.columns, strict=True):
            keys = keys * axis.size + axis.levels(Z[:, columns]).astype(object)
        return list(keys)

    def point(self, key: int) -> Array:  # (width,)
        """The point of a finite cube that has this key."""
        blocks = []
        for axis in reversed(self._discrete):
            key, level = divmod(key, axis.size)
            blocks.append(axis.points(np.array([level]))[0])
        return np.concatenate(blocks[::-1])

    def every_point(self) -> Array:  # (size, width)
        """All points of a finite cube, in the order of their keys."""
        levels = np.indices([axis.size for axis in self._discrete]).reshape(self.parameters, -1)
        return np.hstack([axis.points(level) for axis, level in zip(self._discrete, levels, strict=True)])

    def exhausted(self, taken: Array) -> bool:  # (m, width)
        """Whether `taken` holds every point of the cube."""
        return len(taken) >= self.size and len(set(self.keys(taken))) == self.size

    def unused(self, z: Array, taken: Array) -> Array:  # (width,), (m, width) -> (width,)
        """`z`, or if `taken` holds it, the next point after it in the order of the keys.

        It is `z`, too, where there is nothing to look for: if no point is left, or if an axis is continuous, so that
        points hardly ever coincide.
        """
        if self.size == math.inf or self.exhausted(taken):
            return z
        used = set(self.keys(taken))
        key = self.keys(z[None])[0]
        while key in used:
            key = (key + 1) % int(self.size)
        return self.point(key)

    @cached_property
    def _discrete(self) -> tuple[Grid | OneHot, ...]:
        discrete = tuple(axis for axis in self.axes if not isinstance(axis, Continuous))
        if len(discrete) < len(self.axes):
            raise InvalidInput("Points of a cube with a continuous axis cannot be numbered: test `size` first.")
        return discrete
