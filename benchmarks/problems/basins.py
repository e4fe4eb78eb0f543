"""Functions with a wrong valley to end in, bowls that ask for precision, and whether a run found the right valley.

`bowl-i1-d4` is a quadratic bowl of condition 1e4; `funnels-i1-d4` has a wide funnel and a narrow one, which is deeper.
The number of the instance decides the rotation and the positions.
"""

from __future__ import annotations

import re

import numpy as np
from scipy.optimize import minimize

from aegisbo.arrays import Array, frozen
from aegisbo.errors import InvalidInput
from aegisbo.simulation.problems import Problem
from benchmarks.problems.functions import ellipsoid, moved

NAME = re.compile(r"(bowl|funnels)-i(\d+)-d(\d+)")
SCORED = (
    "Shekel4",
    "Eggholder",
    "Hartmann6",
    "NoisyHartmann6",
)  # and the funnels: several valleys, one of them the best
STEEPNESS = 2.5  # of the narrow funnel over the wide one
STEP = 0.01  # of the box: the first step of the descent that finds out which valley a point belongs to
CLOSE = 1e-3  # of the box


def instance(name: str) -> Problem:
    """The bowl or the funnels of this name."""
    found = NAME.fullmatch(name)
    if found is None:
        raise InvalidInput(f"{name!r} is no bowl and no funnels: write it like 'bowl-i1-d4' or 'funnels-i1-d4'.")
    number, d = int(found[2]), int(found[3])
    if found[1] == "funnels":
        return _funnels(name, number, d)
    return moved(name, ellipsoid, d, 5.0, number=1000 + number, rotated=True, source="a quadratic function")


def _funnels(name: str, number: int, d: int) -> Problem:
    rng = np.random.default_rng(2000 + number)
    middle = rng.choice([-2.5, 2.5], d)  # (d,) of the wide funnel; the narrow one is in the opposite corner
    wide, narrow = middle + rng.uniform(-1, 1, d), -middle + rng.uniform(-1, 1, d)

    def function(x: Array) -> float:
        return float(min(1 + ((x - wide) ** 2).sum() / d, STEEPNESS * ((x - narrow) ** 2).sum() / d))

    return Problem(name, function, ((-5.0, 5.0),) * d, 0.0, frozen(narrow[None]), "after Lunacek and others, 2008")


def right_basin(problem: Problem, x: Array) -> bool | None:  # (d,)
    """Whether a descent from here ends at a global minimizer; None for a problem without this question."""
    if problem.name not in SCORED and not problem.name.startswith("funnels"):
        return None
    low, high = np.array(problem.bounds).T
    unit = STEP * (high - low)
    # In small units, so that the first step of the descent stays in the valley.
    sides = np.column_stack([(low - x) / unit, (high - x) / unit])
    end = minimize(lambda z: problem.function(np.clip(x + unit * z, low, high)), np.zeros(len(x)), bounds=sides).x
    distances = np.abs(STEP * end + (x - problem.minimizers) / (high - low)).max(axis=1)
    return bool(distances.min() < CLOSE)
