"""Deviation `problems`: another Hartmann3, and regret measured from rounded minima.

The paper: the standard functions.
The code: Hartmann3 has 0.4389 for 0.4387 in one center, which lowers its minimum by 3e-4. Regret is |value − minimum|,
the lowest so far, and several minima are rounded.

What it changes: nothing on Hartmann3 but its values. A run that gets below a rounded minimum has a small positive
regret again, so no regret comes much below 1e-8 on Eggholder, 3e-8 on SixHumpCamel, 4e-8 on Hartmann3, 2e-7 on
Michalewicz5 and 2e-6 on Michalewicz10.

Left out: push8, whose targets the code meant to keep apart by 1.1 but did not; its instances are random anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from aegisbo.arrays import Array
from aegisbo.simulation.problem import Problem

MINIMA = {
    "Eggholder": -959.640662711,
    "SixHumpCamel": -1.03162842293,
    "Hartmann3": -3.8631069415,
    "Michalewicz5": -4.687658,
    "Michalewicz10": -9.66015,
    "Hartmann6": -3.32236801139,
}

_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])  # (4,)
_SHARPNESS = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])  # (4, 3)
_CENTERS = np.array(  # (4, 3)
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4389, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)
_MINIMIZER = (0.11460866, 0.55567698, 0.85253528)


def hartmann3(x: Array) -> float:
    """Hartmann3 with the constant of the published code."""
    return float(-_WEIGHTS @ np.exp(-(_SHARPNESS * (x - _CENTERS) ** 2).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class AsPublished(Problem):
    """A problem with the code's notion of regret."""

    def scores(self, values: Array) -> Array:  # (n,) -> (n,)
        """The lowest |value − minimum| so far; the lowest value if the minimum is unknown."""
        if self.minimum is None:
            return super().scores(values)
        return np.asarray(np.minimum.accumulate(np.abs(values - self.minimum)))


def as_published(problem: Problem) -> Problem:
    """The problem as the code had it."""
    if problem.name == "Hartmann3":
        problem = replace(problem, function=hartmann3, minimizers=np.array([_MINIMIZER]))
    given = {field.name: getattr(problem, field.name) for field in fields(problem)}
    return AsPublished(**{**given, "minimum": MINIMA.get(problem.name, problem.minimum)})
