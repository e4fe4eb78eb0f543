"""The two halves of the demo: the same loop, optimizer and workers; in one of them results wait for their batch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from aegisbo.optimizer import Settings
from aegisbo.runners.loop import run
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.problem import Problem
from aegisbo.study import Study

Job = tuple[Any, float]  # a point, and how many seconds its evaluation takes


@dataclass
class Stretch:
    """A time during which a worker was evaluating, in seconds on the workers' clock."""

    worker: int
    begin: float
    end: float | None = None  # None while it lasts


@dataclass
class Half:
    """Worker processes to watch, and their run."""

    path: Path  # of its study file
    problem: Problem  # what to minimize
    durations: list[float]  # seconds of each evaluation, by trial number
    capacity: int  # processes
    batches: bool  # results are held back until all workers have one
    stretches: list[Stretch] = field(default_factory=list)
    learned: list[tuple[float, float]] = field(default_factory=list)  # (seconds after the start, best value then)
    makespan: float | None = None  # seconds that it ran; None while it runs
    stopped: bool = False  # on request
    can_stop: ClassVar = False

    def __post_init__(self) -> None:
        self._held: list[Finished] = []
        self._running: dict[int, Stretch] = {}  # by trial number
        pool = self._pool = make_pool("processes", _slow(self.problem), self.capacity)
        self.called, self.give_up, self.stop = pool.called, pool.give_up, pool.stop
        self.close, self.now = pool.close, pool.now

    def warm_up(self) -> None:
        """Wait until every process is ready: the comparison begins with the first point."""
        for worker in range(self.capacity):
            self._pool.submit(worker, (self.problem.minimizers[0], 0.0))
        missing = self.capacity
        while missing:
            missing -= len(self._pool.collect())
        self.started = self.now()

    def run(self) -> None:
        """Evaluate as many points as there are durations, with everything on disk."""
        settings = Settings.checked({f"x{k}": pair for k, pair in enumerate(self.problem.bounds, 1)}, seed=0)
        with Study.open(self.path, settings) as study:
            self._study = study
            self.started = self.now()
            record = run(study, self, len(self.durations), watch=self._watch, more=lambda: not self.stopped)
            self.makespan = record.makespan
            study.closed(record.message, [asdict(worker) for worker in record.idle])

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return self.now() - self.started if self.makespan is None else self.makespan

    @property
    def idle(self) -> float:
        """The share of the workers' time during which they did not evaluate."""
        now = self.now()
        busy = sum((now if stretch.end is None else stretch.end) - stretch.begin for stretch in tuple(self.stretches))
        return 1.0 - busy / (self.capacity * self.seconds) if self.seconds > 0.0 else 0.0

    def best_after(self, seconds: float) -> float:
        """The best value known this many seconds after the start."""
        return min((best for moment, best in self.learned if moment <= seconds), default=math.inf)

    @property
    def next_worker(self) -> int:
        """Which worker the next job is for."""
        return self._pool.next_worker

    def prefer(self, paces: Mapping[int, float]) -> None:
        """Let the next worker be the fastest."""
        self._pool.prefer(paces)

    def submit(self, number: int, x: Any) -> int:
        """Start an evaluation that takes the time of this trial number."""
        begin = self.now()
        worker = self._pool.submit(number, (np.array(list(x.values())), self.durations[number]))
        self._running[number] = Stretch(worker, begin)
        self.stretches.append(self._running[number])
        return worker

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """The jobs that have ended; in batches, none before all have."""
        if not self.batches:
            return self._ended(timeout)
        if timeout is not None:  # the loop is still handing out the points of a batch
            self._held += self._ended(timeout)
            return []
        while self._running:
            self._held += self._ended(None)
        batch, self._held = self._held, []
        return batch

    def tell(self, number: int, reason: str = "") -> None:
        """Do nothing: its jobs report nothing."""

    def _ended(self, timeout: float | None) -> list[Finished]:
        jobs = []
        for job in (news for news in self._pool.collect(timeout) if isinstance(news, Finished)):
            self._running.pop(job.number).end = job.finished
            jobs.append(replace(job, event=self._study.ended(job.number, job.outcome, job.seconds)))
        return jobs

    def _watch(self, job: Finished) -> None:
        if job.outcome.state == "done":  # else its process was killed, and it runs again
            self.learned.append((self.now() - self.started, min(job.outcome.value, self.best_after(math.inf))))


def _slow(problem: Problem) -> Callable[[Job], float]:
    # An inner function is sent by value, so that workers need not import the command line.
    def evaluate(job: Job) -> float:
        x, seconds = job
        time.sleep(seconds)
        return float(problem(x))

    return evaluate
