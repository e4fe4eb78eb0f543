"""The 24 functions of BBOB (Hansen and others, 2009) as COCO defines them, and how low the best algorithms came.

A problem is called `bbob-f10-i1-d5`: function 10, instance 1, five dimensions. An instance has its own rotations,
shifts and minimum. `bbob-large-f10-i1-d20` is of bbob-largescale (Varelas and others, 2020), whose rotations are
sparse. Values come from `coco-experiment`, COCO's own package.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from aegisbo.arrays import Array, frozen
from aegisbo.errors import InvalidInput
from aegisbo.simulation.problems import Problem
from benchmarks.problems.best import reached, steps

FUNCTIONS = range(1, 25)
FAMILIES = {
    "separable": range(1, 6),
    "moderate": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multi-modal": range(15, 20),
    "weak structure": range(20, 25),
}
LARGE = "bbob-large-"
LARGE_DIMENSIONS = (20, 40, 80, 160, 320, 640)
NAME = re.compile(r"bbob-(?:large-)?f(\d+)-i(\d+)-d(\d+)")


def name_of(function: int, instance: int, d: int, *, large: bool = False) -> str:
    return f"{LARGE if large else 'bbob-'}f{function}-i{instance}-d{d}"


def numbers_of(name: str) -> tuple[int, int, int]:
    """Function, instance and dimension."""
    found = NAME.fullmatch(name)
    if found is None or int(found[1]) not in FUNCTIONS or not int(found[2]) or int(found[3]) < 2:
        raise InvalidInput(f"{name!r} is no BBOB problem: write it like 'bbob-f10-i1-d5', with functions 1 to 24.")
    if name.startswith(LARGE) and int(found[3]) not in LARGE_DIMENSIONS:
        raise InvalidInput(f"{name!r}: bbob-largescale has {', '.join(map(str, LARGE_DIMENSIONS))} dimensions.")
    return int(found[1]), int(found[2]), int(found[3])


def family_of(name: str) -> str:
    function, _, _ = numbers_of(name)
    return next(family for family, functions in FAMILIES.items() if function in functions)


def bbob(name: str) -> Problem:
    """The problem of this name, with COCO's minimum."""
    from cocoex import BareProblem

    function, instance, d = numbers_of(name)
    bare = BareProblem("bbob", function, d, instance)
    values = _large(function, instance, d) if name.startswith(LARGE) else bare  # the minima are the same
    nowhere = frozen(np.empty((0, d)))  # where the minimum lies is no concern of ours
    return Problem(name, values, ((-5.0, 5.0),) * d, bare.best_value(), nowhere, "Hansen and others, 2009")


def _large(function: int, instance: int, d: int) -> Callable[[Array], float]:
    from cocoex import Suite

    suite = Suite("bbob-largescale", f"instances:{instance}", f"dimensions:{d} function_indices:{function}")
    problem = suite.get_problem(0)
    return lambda x, _suite=suite: problem(x)  # a problem does not outlive its suite


def best_steps(name: str) -> list[tuple[float, float]]:
    """Targets and the evaluations that the best algorithm for each needed; empty where that is not known."""
    function, _, d = numbers_of(name)
    return steps(_reference(name)).get((function, d), [])


def best_after(name: str, evaluations: int) -> float:
    """The lowest target that some algorithm reached within so many evaluations; infinite if there is none."""
    function, _, d = numbers_of(name)
    return reached(_reference(name), function, d, evaluations)


def _reference(name: str) -> str:
    return "best2019large" if name.startswith(LARGE) else "best2009"
