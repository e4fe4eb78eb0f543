"""Workers on a virtual clock: any number of them on one core, reproducibly, with job times drawn from a law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aegisbo.outcome import Outcome, judged
from aegisbo.runners.evaluation import Judge, evaluate
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.laws import Law

JOB_TIMES = 7_301  # the role of these draws in a generator's address (seed, role, number); no other draws use it


@dataclass(frozen=True)
class _VirtualJob:
    worker: int
    x: Any
    started: float
    ends: float
    stopped: str = ""  # the reason, if it was stopped


class VirtualWorkers:
    """`workers` simulated workers whose clock jumps from one completion to the next.

    How long a trial takes depends only on the seed and its number, so every strategy gets the same times, in any order.
    The first `free` trials take no time, like the initial design in the paper's experiments. The function is called
    with the `x` of a job when the clock reaches its end.
    """

    can_stop = True

    def __init__(
        self,
        function: Callable[[Any], Any],
        workers: int,
        law: Law,
        seed: int,
        free: int = 0,
        judge: Judge = judged,
    ) -> None:
        self.capacity = workers
        self._function = function
        self._law = law
        self._seed = seed
        self._free = free
        self._judge = judge
        self._clock = 0.0
        self._running: dict[int, _VirtualJob] = {}

    def now(self) -> float:
        return self._clock

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        if number < self._free:
            return 0.0
        return self._law(np.random.default_rng([self._seed, JOB_TIMES, number]).random())

    def called(self, number: int) -> float | None:
        job = self._running.get(number)
        return None if job is None else job.started

    def submit(self, number: int, x: Any) -> int:
        worker = min(set(range(self.capacity)) - {job.worker for job in self._running.values()})
        self._running[number] = _VirtualJob(worker, x, self._clock, self._clock + self.seconds(number))
        return worker

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """Let the clock jump to the next completion, but not beyond the timeout."""
        completion = min((job.ends for job in self._running.values()), default=math.inf)
        patience = math.inf if timeout is None else self._clock + timeout
        instant = min(completion, patience)
        if instant < math.inf:
            self._clock = max(self._clock, instant)
        due = sorted((job.ends, number) for number, job in self._running.items() if job.ends <= self._clock)
        return [self._finish(number, self._running.pop(number)) for _, number in due]

    def spend(self, seconds: float) -> None:
        """Let time pass while the driver is busy; jobs that end meanwhile wait to be collected."""
        self._clock += seconds

    def tell(self, number: int, reason: str = "") -> None:
        """Do nothing: its jobs report nothing."""

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        job = self._running.get(number)
        if job is not None and job.ends > self._clock:
            self._running[number] = replace(job, ends=self._clock, stopped=reason)

    def give_up(self, number: int) -> bool:
        return number in self._running

    def close(self) -> None:
        self._running.clear()

    def _finish(self, number: int, job: _VirtualJob) -> Finished:
        outcome = (
            Outcome("timed_out", reason=job.stopped) if job.stopped else evaluate(self._function, job.x, self._judge)
        )
        outcome = replace(outcome, seconds=job.ends - job.started, began=job.started, worker=job.worker)
        return Finished(number, outcome, job.started, job.ends)
