"""Test functions whose evaluations take long or short, depending on the point.

A problem is called `Hartmann6/dear`: a function of aegisbo and a law of times, in seconds:

- `equal`: 10 everywhere;
- `cheap`: from 1 at the minimum upwards, a hundred times as long half a cube away from it;
- `dear`: the other way round, 100 at the minimum;
- `slope`: from 1 to 100 along two coordinates, whatever the function does;
- `wide`: from 1 to 1000 along the first coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array
from aegisbo.simulation.problems import Problem, get

# Seconds at u (d,) in the unit cube, given how far it is from the minimum: 0.5 is half a cube in every coordinate.
LAWS: dict[str, Callable[[Array, float], float]] = {
    "equal": lambda u, far: 10.0,
    "cheap": lambda u, far: 100.0 ** (2.0 * far),
    "dear": lambda u, far: 100.0 ** (1.0 - 2.0 * far),
    "slope": lambda u, far: 100.0 ** ((u[0] + 1.0 - u[1]) / 2.0),
    "wide": lambda u, far: 1000.0 ** u[0],
}
PROBLEMS = [f"{name}/{law}" for name in ("Branin", "Hartmann6", "Ackley5") for law in LAWS if law != "equal"] + [
    "Branin/equal"
]


@dataclass(frozen=True, eq=False)
class Timed:
    """A problem, and how long its evaluations take."""

    name: str
    problem: Problem
    law: Callable[[Array, float], float]

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        return self.problem.bounds

    @property
    def d(self) -> int:
        return self.problem.d

    @property
    def minimum(self) -> float:
        return self.problem.minimum or 0.0

    def __call__(self, x: Array) -> float:
        return self.problem(x)

    def seconds(self, x: Array) -> float:
        low, high = np.array(self.bounds).T
        u, best = (x - low) / (high - low), (self.problem.minimizers - low) / (high - low)
        return float(self.law(u, float(np.sqrt(((best - u) ** 2).mean(axis=1)).min())))


def timed(name: str) -> Timed:
    function, _, law = name.partition("/")
    return Timed(name, get(function), LAWS[law])
