"""Why workers were idle: waiting for a suggestion, starting up, or out of work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from aegisbo.optimizer.found import CAUSES


@dataclass(frozen=True)
class JobTimes:
    """When one job was at one worker."""

    slot: int  # which worker
    submitted: float
    collected: float
    evaluating: float  # seconds in between in which the function ran


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


def idle_of(jobs: Iterable[JobTimes], sizes: Sequence[tuple[float, int]], ended: float) -> tuple[Idle, ...]:
    """How each worker spent its time until `ended`; `sizes` says how many workers were wanted since when."""
    by_slot: list[list[JobTimes]] = [[] for _ in range(max(size for _, size in sizes))]
    last = sizes[0][0]  # when the last point was handed out: until then every free worker waited for one
    for job in sorted(jobs, key=lambda job: job.submitted):
        by_slot[job.slot].append(job)
        last = max(last, job.submitted)
    return tuple(_total(mine, _wanted(slot, sizes, ended), last) for slot, mine in enumerate(by_slot))


def _wanted(slot: int, sizes: Sequence[tuple[float, int]], ended: float) -> list[tuple[float, float]]:
    """The times during which a worker with this number was wanted."""
    spans: list[tuple[float, float]] = []
    for (since, size), (until, _) in pairwise([*sizes, (ended, 0)]):
        if size > slot and spans and spans[-1][1] == since:
            spans[-1] = spans[-1][0], until
        elif size > slot:
            spans.append((since, until))
    return spans


def _total(jobs: list[JobTimes], spans: list[tuple[float, float]], last: float) -> Idle:
    """One worker's time; it may have come and gone, after finishing its job."""
    parts = []
    for k, (since, until) in enumerate(spans):
        later = spans[k + 1][0] if k + 1 < len(spans) else inf
        mine = [job for job in jobs if (k == 0 or job.submitted >= since) and job.submitted < later]
        until = max(until, *(job.collected for job in mine)) if mine else until
        parts.append(_account(mine, since, min(last, until), until))
    return Idle(*(sum(getattr(part, name) for part in parts) for name in ("busy", *CAUSES)))


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
