"""The 24 functions of BBOB (Hansen and others, 2009) as COCO defines them, and what the best of 2009 reached on them.

A problem is called `bbob-f10-i1-d5`: function 10, instance 1, five dimensions. An instance has its own rotations,
shifts and minimum. Values come from `coco-experiment`, COCO's own package.
"""

from __future__ import annotations

import re

import numpy as np

from aegisbo.arrays import frozen
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
NAME = re.compile(r"bbob-f(\d+)-i(\d+)-d(\d+)")


def name_of(function: int, instance: int, d: int) -> str:
    return f"bbob-f{function}-i{instance}-d{d}"


def numbers_of(name: str) -> tuple[int, int, int]:
    """Function, instance and dimension."""
    found = NAME.fullmatch(name)
    if found is None or int(found[1]) not in FUNCTIONS or not int(found[2]) or int(found[3]) < 2:
        raise InvalidInput(f"{name!r} is no BBOB problem: write it like 'bbob-f10-i1-d5', with functions 1 to 24.")
    return int(found[1]), int(found[2]), int(found[3])


def family_of(name: str) -> str:
    function, _, _ = numbers_of(name)
    return next(family for family, functions in FAMILIES.items() if function in functions)


def bbob(name: str) -> Problem:
    """The problem of this name, with COCO's minimum."""
    from cocoex import BareProblem

    function, instance, d = numbers_of(name)
    problem = BareProblem("bbob", function, d, instance)
    nowhere = frozen(np.empty((0, d)))  # where the minimum lies is no concern of ours
    return Problem(name, problem, ((-5.0, 5.0),) * d, problem.best_value(), nowhere, "Hansen and others, 2009")


def best_2009() -> dict[tuple[int, int], list[tuple[float, float]]]:
    """By function and dimension: targets and the evaluations that the best algorithm for each needed."""
    return steps("best2009")


def best_2009_after(function: int, d: int, evaluations: int) -> float:
    """The lowest target that some algorithm of 2009 reached within so many evaluations; infinite if there is none."""
    return reached("best2009", function, d, evaluations)
