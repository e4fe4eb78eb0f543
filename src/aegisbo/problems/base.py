"""What a benchmark problem is: a function to minimise, its box, and what is known about its minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from aegisbo.arrays import Array, as_vector
from aegisbo.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Problem:
    """A function on a box, to be minimised, with its known answer."""

    name: str
    function: Callable[[Array], float]  # (d,) -> value
    bounds: tuple[tuple[float, float], ...]  # (low, high) of each coordinate
    minimum: float | None  # None where nobody knows it
    minimizers: Array  # (k, d) every point of the box that reaches the minimum
    source: str

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.bounds)

    def __call__(self, x: ArrayLike) -> float:
        """The value at one point of the box."""
        point = as_vector(x, f"x of {self.name}", length=self.d)
        for i, (value, (low, high)) in enumerate(zip(point, self.bounds, strict=True)):
            if not low <= value <= high:
                raise InvalidInput(f"x[{i}] of {self.name} is {value}: choose a value within [{low}, {high}].")
        return float(self.function(point))
