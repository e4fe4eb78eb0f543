"""Where a user expects the best point, in coordinates of the cube: a factor π of every point, 1 where it was guessed.

π is a product over the parameters that exist. Of a number it is 1 in the guessed range and falls beside it like a bell.
Of a choice it is its weight. It is nowhere less than `LEAST` for a parameter: a guess may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from aegisbo.arrays import Array, Floats

LEAST = 0.05  # π of one parameter, far from its guess
WIDTH = 0.1  # standard deviation of the bell beside a guess, in ranges of the parameter
KNOTS = 200  # of the distribution that numbers are drawn from


class Leaning(Protocol):
    """What is guessed of one axis."""

    @property
    def center(self) -> float:
        """The middle of the guess: a number in [0, 1] for `fill` of the axis."""

    def log_value_and_slope(self, Z: Floats) -> tuple[Floats, Floats]:
        """log π (m,) and its gradient (m, width) at coordinates Z (m, width) of the axis."""

    def drawn(self, u: Array) -> Array:
        """Numbers for `fill` with a density like π, from uniform ones (m,)."""


@dataclass(frozen=True)
class Near:
    """A number is between two coordinates."""

    low: float
    high: float
    width: float = WIDTH  # of the bell beside them

    @property
    def center(self) -> float:
        return (self.low + self.high) / 2

    def log_value_and_slope(self, Z: Floats) -> tuple[Floats, Floats]:
        away = (Z - np.clip(Z, self.low, self.high)) / self.width
        bell = (1.0 - LEAST) * np.exp(-0.5 * away**2)
        return np.log(LEAST + bell)[:, 0], -bell / (LEAST + bell) * away / self.width

    def drawn(self, u: Array) -> Array:
        places, below = self._distribution
        return np.asarray(np.interp(u, below, places))

    @cached_property
    def _distribution(self) -> tuple[Array, Array]:
        """Coordinates, and the share of the distribution below each."""
        places = np.linspace(0.0, 1.0, KNOTS + 1)
        density = np.exp(self.log_value_and_slope((places[:-1, None] + places[1:, None]) / 2)[0])
        below = np.append(0.0, density.round(12).cumsum())  # NumPy's last digit may depend on the machine
        return places, below / below[-1]


@dataclass(frozen=True)
class Weighted:
    """A choice is one of these with these weights."""

    weights: tuple[float, ...]  # the largest is above 0

    @cached_property
    def _values(self) -> Array:
        return LEAST + (1.0 - LEAST) * np.array(self.weights) / max(self.weights)

    @property
    def center(self) -> float:
        return (int(self._values.argmax()) + 0.5) / len(self.weights)

    def log_value_and_slope(self, Z: Floats) -> tuple[Floats, Floats]:
        logs = np.log(self._values).astype(Z.dtype)
        return Z @ logs, np.broadcast_to(logs, Z.shape)

    def drawn(self, u: Array) -> Array:
        below = np.append(0.0, self._values.cumsum())
        return np.asarray(np.interp(u, below / below[-1], np.linspace(0.0, 1.0, len(below))))


@dataclass(frozen=True)
class Guess:
    """What is guessed of all axes."""

    each: tuple[tuple[slice, Leaning | None], ...]  # where an axis lies among the coordinates, and its guess

    @property
    def _guessed(self) -> Iterator[tuple[slice, Leaning]]:
        return ((columns, leaning) for columns, leaning in self.each if leaning is not None)

    @property
    def parameters(self) -> int:
        """How many are guessed."""
        return sum(1 for _ in self._guessed)

    def log_value(self, Z: Floats) -> Floats:
        """log π (m,) at Z (m, width), in the precision of Z."""
        return sum((_where_it_is(columns, leaning, Z)[0] for columns, leaning in self._guessed), np.zeros_like(Z[:, 0]))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """log π (m,) and its gradient (m, width) at Z (m, width)."""
        total, gradient = np.zeros(len(Z)), np.zeros_like(Z)
        for columns, leaning in self._guessed:
            value, gradient[:, columns] = _where_it_is(columns, leaning, Z)
            total += value
        return total, gradient

    def of_each(self, Z: Array) -> Array:  # (m, width) -> (m, parameters)
        """log π of each parameter alone; 0 where nothing is guessed or where it does not exist."""
        nothing = np.zeros(len(Z))
        return np.stack(
            [nothing if leaning is None else _where_it_is(at, leaning, Z)[0] for at, leaning in self.each], axis=1
        )

    def centered(self, U: Array) -> Array:
        """Numbers for `fill` (m, parameters), with those that are guessed in the middle of their guess."""
        return self._changed(U, lambda leaning, u: np.full(len(u), leaning.center))

    def drawn(self, U: Array) -> Array:
        """Numbers for `fill` with a density like π, from uniform ones (m, parameters)."""
        return self._changed(U, lambda leaning, u: leaning.drawn(u))

    def _changed(self, U: Array, change: Callable[[Leaning, Array], Array]) -> Array:
        U = U.copy()
        for k, (_, leaning) in enumerate(self.each):
            if leaning is not None:
                U[:, k] = change(leaning, U[:, k])
        return U


def _where_it_is(columns: slice, leaning: Leaning, Z: Floats) -> tuple[Floats, Floats]:
    """log π (m,) of an axis and its gradient; both are 0 where the axis does not exist, with coordinates below 0."""
    block = Z[:, columns]
    there = block[:, 0] >= 0.0
    value, slope = leaning.log_value_and_slope(block)
    return np.where(there, value, Z.dtype.type(0)), np.where(there[:, None], slope, Z.dtype.type(0))
