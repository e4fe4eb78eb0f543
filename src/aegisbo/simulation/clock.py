"""Workers on a virtual clock: any number of them on one core, reproducibly, with job times drawn from a law.

They are alike unless they are given as `Member`s, which differ in pace and may be taken away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aegisbo.outcome import Ended, Outcome, Report, judged
from aegisbo.runners.evaluation import Judge, evaluate
from aegisbo.runners.protocol import Finished, Heard, News, first_of
from aegisbo.simulation.laws import Law

JOB_TIMES = 7_301  # the role of these draws in a generator's address (seed, role, number); no other draws use it
DEPARTURES = 7_303  # likewise, with the number of the worker
TAKEN_AWAY = "Its worker was taken away."


@dataclass(frozen=True)
class Member:
    """A worker of an uneven team."""

    pace: float = 1.0  # by how much longer a job takes than its law says
    stays: float = math.inf  # mean seconds until it is taken away, with its job
    absent: float = 0.0  # seconds until it is back


@dataclass(frozen=True)
class _VirtualJob:
    worker: int
    x: Any
    started: float
    ends: float
    reports: tuple[Report, ...] = ()  # that are still to come
    spoke: float = -math.inf  # when it was last heard
    state: Ended = "done"  # how it ends, unless its function decides
    reason: str = ""  # why, if it was stopped

    def due(self, clock: float) -> Sequence[tuple[float, Report | None]]:
        """What has happened up to now and when; None is the end."""
        said = [(self.started + (each.seconds or 0.0), each) for each in self.reports]
        happened: list[tuple[float, Report | None]] = [(when, each) for when, each in said if when <= clock]
        return [*happened, (self.ends, None)] if self.ends <= clock else happened

    @property
    def next(self) -> float:
        """When something happens again."""
        return self.started + (self.reports[0].seconds or 0.0) if self.reports else self.ends

    def cut(self, when: float, state: Ended, reason: str) -> _VirtualJob:
        """The job, ended at this time for a reason."""
        return replace(self, ends=when, reports=(), state=state, reason=reason)


class VirtualWorkers:
    """`workers` simulated workers whose clock jumps from one completion or report to the next.

    How long a trial takes depends only on the seed and its number, so every strategy gets the same times, in any order;
    and on the pace of its worker if the workers are given as `members`.
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
        members: Sequence[Member] = (),
    ) -> None:
        self._members = members or (Member(),) * workers
        leaving = [k for k, member in enumerate(self._members) if math.isfinite(member.stays)]
        self._departures = {k: np.random.default_rng([seed, DEPARTURES, k]) for k in leaving}
        self._leaves = {k: self._stay(k) for k in leaving}  # when each is taken away next
        self._function = function
        self._law = law
        self._seed = seed
        self._free = free
        self._judge = judge
        self._clock = 0.0
        self._running: dict[int, _VirtualJob] = {}
        self._paces: Mapping[int, float] = {}

    @property
    def capacity(self) -> int:
        return len(self._present()) if self._leaves else len(self._members)

    @property
    def next_worker(self) -> int:
        return first_of(self._present() - {job.worker for job in self._running.values()}, self._paces)

    def prefer(self, paces: Mapping[int, float]) -> None:
        self._paces = paces

    def now(self) -> float:
        return self._clock

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        if number < self._free:
            return 0.0
        return self._law(np.random.default_rng([self._seed, JOB_TIMES, number]).random())

    def reports(self, number: int, x: Any) -> Sequence[Report]:
        """What trial `number` says on its way, each with the seconds since its start, in order."""
        return ()

    def called(self, number: int) -> float | None:
        job = self._running.get(number)
        return None if job is None else job.started

    def submit(self, number: int, x: Any) -> int:
        worker = self.next_worker
        seconds = self.seconds(number) * self._members[worker].pace
        reports = tuple(each for each in self.reports(number, x) if (each.seconds or 0.0) <= seconds)
        job = _VirtualJob(worker, x, self._clock, self._clock + seconds, reports)
        leaves = self._leaves.get(worker, math.inf)
        self._running[number] = job if job.ends <= leaves else job.cut(leaves, "lost", TAKEN_AWAY)
        return worker

    def _stay(self, worker: int) -> float:
        return float(self._departures[worker].exponential(self._members[worker].stays))

    def _present(self) -> set[int]:
        """The workers that are there now."""
        for worker in self._leaves:
            while self._clock >= self._returns(worker):
                self._leaves[worker] = self._returns(worker) + self._stay(worker)
        away = {worker for worker, leaves in self._leaves.items() if self._clock >= leaves}
        return set(range(len(self._members))) - away

    def _returns(self, worker: int) -> float:
        """When a worker is back that is taken away next, or has been."""
        return self._leaves[worker] + self._members[worker].absent

    def collect(self, timeout: float | None = None) -> list[News]:
        """Let the clock jump to the next completion or report, or to the return of a worker; not beyond the timeout."""
        back = [self._returns(worker) for worker, leaves in self._leaves.items() if leaves <= self._clock]
        happens = min((*(job.next for job in self._running.values()), *back), default=math.inf)
        patience = math.inf if timeout is None else self._clock + timeout
        instant = min(happens, patience)
        if instant < math.inf:
            self._clock = max(self._clock, instant)
        due = [(when, number, each) for number, job in self._running.items() for when, each in job.due(self._clock)]
        due.sort(key=lambda news: news[:2])  # stable: the end of a job stays behind its reports
        return [self._finish(number) if each is None else self._say(number, each) for _, number, each in due]

    def spend(self, seconds: float) -> None:
        """Let time pass while the driver is busy; jobs that end meanwhile wait to be collected."""
        self._clock += seconds

    def tell(self, number: int, reason: str = "") -> None:
        job = self._running.get(number)
        if job is None or not reason:
            return
        if job.spoke == self._clock or job.reports:  # else it never hears of it
            self._running[number] = job.cut(self._clock if job.spoke == self._clock else job.next, "stopped", reason)

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        job = self._running.get(number)
        if job is not None and job.ends > self._clock:
            self._running[number] = job.cut(self._clock, "timed_out", reason)

    def give_up(self, number: int) -> bool:
        return number in self._running

    def close(self) -> None:
        self._running.clear()

    def _say(self, number: int, report: Report) -> Heard:
        job = self._running[number]
        self._running[number] = replace(job, reports=job.reports[1:], spoke=self._clock)
        return Heard(number, report)

    def _finish(self, number: int) -> Finished:
        job = self._running.pop(number)
        stopped = job.state != "done"
        outcome = Outcome(job.state, reason=job.reason) if stopped else evaluate(self._function, job.x, self._judge)
        outcome = replace(outcome, seconds=job.ends - job.started, began=job.started, worker=job.worker)
        return Finished(number, outcome, job.started, job.ends)
