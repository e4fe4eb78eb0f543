"""Why workers stood idle: waiting for a suggestion, waiting for the pool, or with nothing left to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CAUSES = ("suggestion", "pool", "nothing")


@dataclass(frozen=True)
class Stay:
    """One job at one worker."""

    slot: int  # which worker
    submitted: float
    collected: float
    evaluating: float  # seconds of the time between that the function itself took


@dataclass(frozen=True)
class Idle:
    """Seconds of one worker's time."""

    busy: float
    suggestion: float  # free, while the next point was being chosen
    pool: float  # handed a job, but not evaluating: starting processes, sending data
    nothing: float  # free, with nothing left to hand out

    @property
    def total(self) -> float:
        return self.busy + self.suggestion + self.pool + self.nothing


def idle_of(stays: Iterable[Stay], workers: int, started: float, ended: float) -> tuple[Idle, ...]:
    """How each worker spent the time from `started` to `ended`."""
    by_slot: list[list[Stay]] = [[] for _ in range(workers)]
    for stay in stays:
        by_slot[stay.slot].append(stay)
    return tuple(_account(sorted(slot, key=lambda stay: stay.submitted), started, ended) for slot in by_slot)


def _account(stays: list[Stay], started: float, ended: float) -> Idle:
    busy = suggestion = pool = 0.0
    free_since = started
    for stay in stays:
        suggestion += stay.submitted - free_since
        busy += stay.evaluating
        pool += max(stay.collected - stay.submitted - stay.evaluating, 0.0)
        free_since = stay.collected
    return Idle(busy, suggestion, pool, max(ended - free_since, 0.0))
