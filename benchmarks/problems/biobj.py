"""The 55 functions of bbob-biobj (Brockhoff and others, 2022) as COCO defines them: pairs of functions of BBOB.

A problem is called `biobj-f10-i1-d5`: function 10, instance 1, five dimensions. Values come from `coco-experiment`,
COCO's own package, and so does what the best known front covers, for instances 1 to 10. The box is [-5, 5]^d: the
minimum of either objective lies in it. Parts of the best front may not.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput
from benchmarks.problems.fronts import Front

FUNCTIONS = range(1, 56)
INSTANCES = range(1, 11)  # of others COCO does not know the best front
PREFIX = "biobj-"
NAME = re.compile(r"biobj-f(\d+)-i(\d+)-d(\d+)")
PAIR = re.compile(r"bbob_f(\d+)_i(\d+)_d(\d+)")  # one of the two functions, in COCO's name of a problem
REFERENCE = re.compile(r"reference value = (\S+)")


def numbers_of(name: str) -> tuple[int, int, int]:
    """Function, instance and dimension."""
    found = NAME.fullmatch(name)
    if found is None or int(found[1]) not in FUNCTIONS or int(found[2]) not in INSTANCES:
        raise InvalidInput(f"{name!r} is no problem of bbob-biobj: write 'biobj-f10-i1-d5', f1 to f55, i1 to i10.")
    return int(found[1]), int(found[2]), int(found[3])


def biobj(name: str) -> Front:
    from cocoex import BareProblem

    problem = coco_problem(name)
    pair = [BareProblem("bbob", int(f), int(d), int(i)) for f, i, d in PAIR.findall(problem.name)]
    ideal = np.array([each.best_value() for each in pair])
    bounds = ((-5.0, 5.0),) * problem.dimension
    return Front(name, bounds, problem, ideal, np.array(problem.largest_fvalues_of_interest), _covered(name))


def coco_problem(name: str) -> Any:
    """COCO's own object, which calls itself `bbob-biobj_f10_i01_d05`."""
    from cocoex import Suite

    function, instance, d = numbers_of(name)
    suite = Suite("bbob-biobj", "", f"dimensions: {d} function_indices: {function} instance_indices: {instance}")
    return suite[0]


def _covered(name: str) -> float:
    """What the best known front covers, which COCO tells in the files of its logger only."""
    problem = coco_problem(name)
    with TemporaryDirectory() as folder:
        observe(problem, folder)
        problem(np.zeros(problem.dimension))
        problem.free()
        (file,) = Path(folder).rglob("*_hyp.dat")
        found = REFERENCE.search(file.read_text("utf-8"))
    if found is None:
        raise ValueError(f"COCO's logger does not tell what the best front of {name} covers.")
    return float(found[1])


def observe(problem: Any, folder: str) -> None:
    """Let COCO's logger write its files below a folder."""
    from cocoex import Observer, log_level

    log_level("warning")
    problem.observe_with(Observer("bbob-biobj", f"outer_folder: {folder} result_folder: log log_nondominated: none"))
