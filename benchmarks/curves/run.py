"""One run of one method on trainings that report, on the virtual clock.

A run lasts for 20 trainings' time (see `unit`). It asks for no point after that. Evaluations take the time of the
training.
"""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass
from time import process_time
from typing import Any

import numpy as np

from aegisbo import Optimizer, Trial
from aegisbo.arrays import Array
from aegisbo.outcome import Report
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Heard, News
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import constant
from aegisbo.study import Study
from benchmarks.curves.peers import PEERS, pruned
from benchmarks.problems.trainings import Course, last_step, training, unit
from benchmarks.traces import improvements

UNITS = 20.0  # trainings' time that a run lasts
MARKS = (1.0, 2.0, 5.0, 10.0, 20.0)
OURS = {
    "aegis-gain": {"stop_early": "gain"},
    "aegis-gain-time": {"stop_early": "gain", "cost": "time"},
    "aegis-ranks": {"stop_early": "ranks"},
    "aegis-full": {},
    "random-ranks": {"strategy": "random", "stop_early": "ranks"},
}
METHODS = (*OURS, *PEERS)
EVER = 1_000_000  # evaluations


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    method: str
    problem: str
    seed: int
    workers: int


@dataclass(frozen=True)
class Outcome(Job):
    """The best value that any evaluation had reported at each mark, and what became of the evaluations."""

    after_1: float
    after_2: float
    after_5: float
    after_10: float
    after_20: float
    trials: int
    stopped: int
    missed: int  # stopped evaluations that would have ended better than the best of the others did
    spared: float  # seconds that they would have taken, as a share of the workers' time
    suggestion_seconds: float  # processor time of all suggestions
    report_seconds: float  # processor time of all reports, decisions to stop included
    reports: int
    trace: str  # each improvement as units:value


class Trainings(VirtualWorkers):
    """Virtual workers whose jobs are trainings, and remember what they said."""

    def __init__(self, problem: str, workers: int) -> None:
        super().__init__(self._end, workers, constant, seed=0)
        self.problem = training(problem)
        self.courses: dict[int, Course] = {}  # by number of the trial
        self.said: list[tuple[float, float]] = []  # when, and the value

    def submit(self, number: int, x: Any) -> int:
        self.courses[number] = self.problem(x)
        return super().submit(number, number)

    def seconds(self, number: int) -> float:
        return float(self.courses[number].seconds[-1])

    def reports(self, number: int, x: Any) -> list[Report]:
        course = self.courses[number]
        told = zip(course.steps.tolist(), course.values.tolist(), course.seconds.tolist(), strict=True)
        return [Report(*each) for each in told]

    def collect(self, timeout: float | None = None) -> list[News]:
        news = super().collect(timeout)
        self.said += [(self.now(), each.report.value or 0.0) for each in news if isinstance(each, Heard)]
        return news

    def _end(self, number: int) -> float:
        return float(self.courses[number].values[-1])


class Timed(Study):
    """Our optimizer, and the processor time that it takes."""

    suggesting = reporting = 0.0

    def ask(self, *arguments: Any) -> Trial | None:
        begin = process_time()
        trial = super().ask(*arguments)
        self.suggesting += process_time() - begin
        return trial

    def answer(self, *arguments: Any) -> str:
        begin = process_time()
        reason = super().answer(*arguments)
        self.reporting += process_time() - begin
        return reason


def perform(job: Job) -> Outcome:
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    workers, limit = Trainings(job.problem, job.workers), UNITS * unit(job.problem)
    space = workers.problem.space
    if job.method in PEERS:
        study = pruned(job.method, space, job.seed, last_step(job.problem))
    else:
        ours: dict[str, Any] = {"maximize": True, "steps": last_step(job.problem), **OURS[job.method]}
        study = Timed(Optimizer(space, seed=job.seed, **ours))
    run(study, workers, EVER, more=lambda: workers.now() < limit)
    trials = study.optimizer.trials
    stopped = [trial for trial in trials if trial.state == "stopped"]
    best = max(trial.value for trial in trials if trial.state == "done")
    rests = [workers.seconds(trial.number) - trial.seconds for trial in stopped]
    units, values = _improvements(np.array(workers.said), limit)
    return Outcome(
        *astuple(job),
        *(float(values[units <= mark].max(initial=0.0)) for mark in MARKS),
        len(trials),
        len(stopped),
        sum(workers._end(trial.number) > best for trial in stopped),
        sum(rests) / (job.workers * limit),
        study.suggesting,
        study.reporting,
        len(workers.said),
        " ".join(f"{when:.4g}:{value:.6g}" for when, value in zip(units, values, strict=True)),
    )


def _improvements(said: Array, limit: float) -> tuple[Array, Array]:  # (n, 2) -> (m,), (m,)
    """When a value was better than all before it, in units of time, and the value."""
    said = said[said[:, 0] <= limit]
    better = improvements(-said[:, 1])
    return said[better, 0] / limit * UNITS, said[better, 1]
