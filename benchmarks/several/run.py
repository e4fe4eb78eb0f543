"""One run of one method with several objectives on the virtual clock.

Runs are paired: the initial design and the job times follow from the problem and the seed alone. Every method begins
with the same 2d points, and its k-th evaluation takes the same time, which is half-normal.
"""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass
from statistics import median
from typing import Any

import numpy as np

from aegisbo.runners.loop import run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from benchmarks.peers.several import SeveralDriven, method_named
from benchmarks.problems import biobj, fronts, tables
from benchmarks.problems.fronts import Front
from benchmarks.regret.starts import seed_of

MARKS = (0.25, 0.5, 0.75, 1.0)  # of the budget: where the gap is read


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    method: str
    problem: str
    seed: int
    workers: int
    budget: int  # evaluations, the initial ones included


@dataclass(frozen=True)
class Outcome(Job):
    """The gap of hypervolume after each quarter of the budget, and what the search cost."""

    gap_quarter: float
    gap_half: float
    gap_three_quarters: float
    gap: float
    median_seconds: float  # processor time of one suggestion, the initial points left out
    total_seconds: float  # of all of them
    makespan: float  # when the last evaluation ended, on the virtual clock


def front_named(name: str) -> Front:
    if name.startswith(biobj.PREFIX):
        return biobj.biobj(name)
    if name.startswith(tables.PREFIX):
        return fronts.trainings(name)
    return fronts.closed(name)


def perform(job: Job) -> Outcome:
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    problem = front_named(job.problem)
    seed = seed_of(job.seed, job.problem)
    values: list[list[float]] = []  # in order of completion

    def function(x: Any) -> tuple[float, dict[str, float]]:
        measured = problem(x)
        values.append(list(measured.values()))
        return 0.0, measured  # the loop asks for one value, which nobody is told

    driven = SeveralDriven(method_named(job.method, problem.bounds, seed, problem.names))
    workers = VirtualWorkers(function, job.workers, half_normal, seed, free=2 * problem.d)
    record = run(driven, workers, job.budget)
    gaps = [problem.gap(np.array(values[: int(share * job.budget)])) for share in MARKS]
    seconds = driven.seconds[2 * problem.d :]
    return Outcome(*astuple(job), *gaps, median(seconds), sum(seconds), record.makespan)
