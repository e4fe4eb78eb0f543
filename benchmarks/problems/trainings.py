"""Trainings that report: a surrogate of LCBench, real learners on growing samples, and curves of our own that cross.

`lcbench-3945` is a data set of LCBench: the folder that the environment variable AEGISBO_REFERENCE_DATA names has the
surrogate in `curves/lcbench.py`. `lcdb-6` is a choice among the 20 learners of LCDB on a data set. `crossing-0` has a
closed form: the better a training ends, the lower and the more slowly it starts, so that ranks mislead at every step
but the last ones. All are to be maximized.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo import Choice, Int, Real
from aegisbo.arrays import Array
from aegisbo.errors import AegisError
from aegisbo.space.parameters import Parameter
from benchmarks.problems import lcdb

EPOCHS = 52
TRAININGS = 60  # random ones, whose median time is the unit


@dataclass(frozen=True)
class Course:
    """What a training reports, after each epoch if nothing else is said."""

    values: Array  # (n,) to be maximized
    seconds: Array  # (n,) since its start
    steps: Array = field(default_factory=lambda: np.arange(1.0, EPOCHS + 1.0))  # (n,) growing


class LCBench:
    """Validation accuracy in percent on one of its data sets."""

    def __init__(self, name: str) -> None:
        self.task = name.partition("-")[2]

    @property
    def space(self) -> dict[str, Parameter]:
        return {
            name: Int(low, high, log=log) if whole else Real(low, high, log=log)
            for name, (low, high, log, whole) in lcbench().SPACE.items()
        }

    def __call__(self, params: Mapping[str, Any]) -> Course:
        told = lcbench().curves(self.task, params)
        return Course(told["val_accuracy"], told["time"])


class LCDB:
    """Validation accuracy in percent of a learner on growing samples."""

    def __init__(self, name: str) -> None:
        self.learners = lcdb.fits(name.partition("-")[2])

    @property
    def space(self) -> dict[str, Parameter]:
        return {"learner": Choice(list(self.learners))}

    def __call__(self, params: Mapping[str, Any]) -> Course:
        steps, values, seconds = np.array(self.learners[params["learner"]]).T
        return Course(values, seconds, steps)


class Crossing:
    """The accuracy of a closed form in four parameters, whose best point the number of the problem decides."""

    def __init__(self, name: str) -> None:
        self.best = np.random.default_rng(int(name.partition("-")[2])).uniform(0.2, 0.8, 4)

    @property
    def space(self) -> dict[str, Parameter]:
        return {f"x{k}": Real(0.0, 1.0) for k in range(4)}

    def __call__(self, params: Mapping[str, Any]) -> Course:
        x, epochs = np.array([params[name] for name in self.space]), np.arange(1, EPOCHS + 1)
        good = float(np.exp(-2.0 * ((x - self.best) ** 2).sum()))  # 1 at the best point
        rises = 1.0 - np.exp(-epochs / (2.0 + 25.0 * good**2))
        return Course((50.0 + 50.0 * good) * rises / rises[-1] * (0.6 + 0.4 * rises / rises[-1]), epochs * (0.5 + x[0]))


KINDS = {"lcbench": LCBench, "lcdb": LCDB, "crossing": Crossing}


@cache
def training(name: str) -> LCBench | LCDB | Crossing:
    """The problem of this name."""
    return KINDS[name.partition("-")[0]](name)


@cache
def last_step(name: str) -> float:
    """The last step that trainings report."""
    problem = training(name)
    return max(each[-1][0] for each in problem.learners.values()) if isinstance(problem, LCDB) else float(EPOCHS)


@cache
def unit(name: str) -> float:
    """Seconds that a training takes: the median of random ones; of LCDB, where few take nearly all time, the mean."""
    from aegisbo import Optimizer

    problem = training(name)
    if isinstance(problem, LCDB):
        return float(np.mean([told[-1][2] for told in problem.learners.values()]))
    drawn = Optimizer(problem.space, strategy=f"random:n={TRAININGS}", n_initial=1, seed=0)
    return float(np.median([problem(drawn.ask().params).seconds[-1] for _ in range(TRAININGS)]))


def tasks(which: slice) -> list[str]:
    """Names of some of the data sets of LCBench."""
    return [f"lcbench-{task}" for task in lcbench().TASKS[which]]


@cache
def lcbench() -> Any:
    """The module of the surrogate."""
    named = os.environ.get("AEGISBO_REFERENCE_DATA")
    if not named:
        raise AegisError("LCBench is in the reference data: set AEGISBO_REFERENCE_DATA to their folder.")
    sys.path.insert(0, str(Path(named) / "curves"))
    import lcbench as module

    return module
