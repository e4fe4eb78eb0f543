"""Why workers were idle: waiting for a suggestion, waiting for the pool, or with nothing left to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CAUSES = ("suggestion", "pool", "nothing")


@dataclass(frozen=True)
class JobTimes:
    """When one job was at one worker."""

    slot: int  # which worker
    submitted: float
    collected: float
    evaluating: float  # seconds in between that the function itself took


@dataclass(frozen=True)
class Idle:
    """Seconds of one worker's time."""

    busy: float
    suggestion: float  # free, while the next point was being chosen
    pool: float  # has a job, but is not evaluating: starting processes, sending data
    nothing: float  # free, with no points left to evaluate

    @property
    def total(self) -> float:
        return self.busy + self.suggestion + self.pool + self.nothing


def idle_of(jobs: Iterable[JobTimes], workers: int, started: float, ended: float) -> tuple[Idle, ...]:
    """How each worker spent the time from `started` to `ended`."""
    by_slot: list[list[JobTimes]] = [[] for _ in range(workers)]
    last = started  # when the last point was handed out: until then every free worker waited for one
    for job in jobs:
        by_slot[job.slot].append(job)
        last = max(last, job.submitted)
    return tuple(_account(sorted(slot, key=lambda job: job.submitted), started, last, ended) for slot in by_slot)


def _account(jobs: list[JobTimes], started: float, last: float, ended: float) -> Idle:
    busy = suggestion = pool = 0.0
    free_since = started
    for job in jobs:
        suggestion += job.submitted - free_since
        busy += job.evaluating
        pool += max(job.collected - job.submitted - job.evaluating, 0.0)
        free_since = job.collected
    suggestion += max(last - free_since, 0.0)
    return Idle(busy, suggestion, pool, max(ended - max(free_since, last), 0.0))
