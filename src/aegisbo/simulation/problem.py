"""What a benchmark problem is: a function to minimize, its box, and what is known about its minimum or its front."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aegisbo.arrays import Array, as_vector, frozen
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.search.hypervolume import GrowingFront

INSTANCES = 51  # of every family, as in the paper


@dataclass(frozen=True)
class Parameter:
    """The parameter behind one coordinate, in its own units."""

    name: str
    low: float
    high: float
    log: bool = False
    integer: bool = False

    def value(self, fraction: float) -> float:
        """The parameter at this fraction of the coordinate's range."""
        low, high = self._edges()
        value = low + fraction * (high - low)
        value = math.exp(value) if self.log else value
        return min(max(round(value), self.low), self.high) if self.integer else value

    def fraction(self, value: float) -> float:
        """The fraction of the coordinate's range at which the parameter has this value."""
        if not self.low <= value <= self.high:
            raise InvalidInput(f"{self.name} is {value}: choose a value within [{self.low}, {self.high}].")
        low, high = self._edges()
        return ((math.log(value) if self.log else value) - low) / (high - low)

    def _edges(self) -> tuple[float, float]:
        margin = 0.5 if self.integer else 0.0  # a whole number owns the half unit on either side of it
        low, high = self.low - margin, self.high + margin
        return (math.log(low), math.log(high)) if self.log else (low, high)


@dataclass(frozen=True)
class ExactFront:
    """What is known of the front of several objectives, all minimized."""

    reference: Mapping[str, float]  # up to which hypervolume counts, by name of the objective
    hypervolume: float | None = None  # of the exact front; None if unknown

    def scores(self, values: Array) -> Array:  # (n, m) -> (n,)
        """The share of the exact hypervolume that is missing after each value; if unknown, minus the hypervolume."""
        found = GrowingFront(np.array([*self.reference.values()]), np.empty((0, len(self.reference))))
        covered = np.array([found.add(value) for value in values])
        return -covered if self.hypervolume is None else 1.0 - covered / self.hypervolume


@dataclass(frozen=True, eq=False)
class Problem:
    """A function on a box, to be minimized, with its known answer."""

    name: str
    function: Callable[[Array], Any]  # (d,) -> value, or one for each of several objectives
    bounds: tuple[tuple[float, float], ...]  # (low, high) of each coordinate
    minimum: float | None = None  # None if unknown
    minimizers: Array = field(default_factory=lambda: np.empty(0))  # (k, d) every point of the box that reaches it
    source: str = ""
    parameters: tuple[Parameter, ...] = ()  # the meaning of the coordinates; by default x1, x2, ...
    front: ExactFront | None = None  # of several objectives; None if there is one value

    def __post_init__(self) -> None:
        if not len(self.minimizers):
            object.__setattr__(self, "minimizers", frozen(np.empty((0, self.d))))
        if not self.parameters:
            plain = tuple(Parameter(f"x{i}", low, high) for i, (low, high) in enumerate(self.bounds, start=1))
            object.__setattr__(self, "parameters", plain)

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.bounds)

    @property
    def objectives(self) -> dict[str, str]:
        """The directions of several objectives by name; empty if there is one value."""
        return {} if self.front is None else dict.fromkeys(self.front.reference, "min")

    def __call__(self, x: ArrayLike) -> Any:
        """The value at one point of the box, a float; several objectives by name."""
        found = self.function(self._inside(x))
        return dict(zip(self.objectives, map(float, found), strict=True)) if self.objectives else float(found)

    def scores(self, values: Array) -> Array:  # (n,), of m objectives (n, m) -> (n,)
        """How far the best value so far is from the minimum; that value itself if the minimum is unknown.

        Of several objectives, how much of the front is missing.
        """
        if self.front is not None:
            return self.front.scores(values)
        return np.asarray(np.minimum.accumulate(values) - (self.minimum or 0.0))

    def settings(self, x: ArrayLike) -> dict[str, float]:
        """A point of the box as values of the parameters, in their own units."""
        low, high = np.array(self.bounds).T
        fractions = (self._inside(x) - low) / (high - low)
        return {p.name: p.value(float(u)) for p, u in zip(self.parameters, fractions, strict=True)}

    def point(self, settings: Mapping[str, float]) -> Array:  # (d,)
        """The point of the box with these values of the parameters."""
        names = [parameter.name for parameter in self.parameters]
        for name in settings:
            if name not in names:
                raise UnknownName(f"parameter of {self.name}", name, names)
        if missing := [name for name in names if name not in settings]:
            raise InvalidInput(f"{', '.join(missing)} of {self.name} is missing: give a value for every parameter.")
        low, high = np.array(self.bounds).T
        fractions = np.array([p.fraction(settings[p.name]) for p in self.parameters])
        return np.asarray(np.clip(low + fractions * (high - low), low, high))

    def _inside(self, x: ArrayLike) -> Array:
        point = as_vector(x, f"x of {self.name}", length=self.d)
        for i, (value, (low, high)) in enumerate(zip(point, self.bounds, strict=True)):
            if not low <= value <= high:
                raise InvalidInput(f"x[{i}] of {self.name} is {value}: choose a value within [{low}, {high}].")
        return point


@dataclass(frozen=True, eq=False)
class Family:
    """Problems of one kind, numbered: the instances 1, 2, ..., count."""

    name: str
    parameters: tuple[Parameter, ...]
    bounds: tuple[tuple[float, float], ...]
    function: Callable[[int], Callable[[Array], float]]  # instance number -> what to minimize
    source: str
    count: int = INSTANCES

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.bounds)

    def instance(self, number: int) -> Problem:
        """The problem with this number."""
        if number not in range(1, self.count + 1):
            raise InvalidInput(f"{self.name} has no instance {number}: choose one of 1 to {self.count}.")
        return Problem(
            name=f"{self.name}#{number}",
            function=self.function(number),
            bounds=self.bounds,
            source=self.source,
            parameters=self.parameters,
        )
