"""The workers' time: a bar for each evaluation, and why there are gaps between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aegisbo.events import Opened
from aegisbo.report.evaluations import Evaluation, evaluations_of
from aegisbo.report.record import Record, Span
from aegisbo.runners.idle import CAUSES

WAITING = {**CAUSES, "idle": "idle"}  # the last: nobody knows why, because there is no study
SHORTEST = 1e-3  # seconds of a gap
REPLACED = ("lost", "timed_out")  # how an evaluation ends whose process is followed by a new one


@dataclass(frozen=True)
class Gap:
    """A stretch of time in which a worker evaluated nothing."""

    worker: int
    started: float  # seconds since 1970
    ended: float
    cause: str  # one of `WAITING`
    starting: bool = False  # before the first evaluation of a process, which had to start and to load the function

    @property
    def seconds(self) -> float:
        return self.ended - self.started


@dataclass(frozen=True)
class WorkerTime:
    """How one worker spent its time, in seconds."""

    worker: int
    busy: float
    suggestion: float
    pool: float
    nothing: float
    idle: float  # nobody knows why

    @property
    def total(self) -> float:
        return self.busy + self.suggestion + self.pool + self.nothing + self.idle

    @property
    def utilization(self) -> float:
        """The share of its time that it spent evaluating; 1 if there was no time at all."""
        return self.busy / self.total if self.total > 0 else 1.0


@dataclass(frozen=True)
class Timeline:
    """What each worker did and when."""

    bars: tuple[Evaluation, ...]
    gaps: tuple[Gap, ...]
    workers: tuple[WorkerTime, ...]

    @property
    def utilization(self) -> float:
        """The share of all workers' time that was spent evaluating."""
        total = sum(worker.total for worker in self.workers)
        return sum(worker.busy for worker in self.workers) / total if total > 0 else 1.0

    def shares(self) -> dict[str, float]:
        """The shares of all workers' time that were spent idle, by cause."""
        total = sum(worker.total for worker in self.workers) or 1.0
        causes = ("idle",) if any(gap.cause == "idle" for gap in self.gaps) else tuple(CAUSES)
        return {cause: sum(getattr(worker, cause) for worker in self.workers) / total for cause in causes}


def timeline(record: Record) -> Timeline:
    """The workers' time; without bars where nobody knows when anything was evaluated."""
    bars = evaluations_of(record)
    asked = {number: decision.asked.at for number, decision in record.decisions.items()}
    workers = max((bar.worker + 1 for bar in bars), default=0)
    called = _called_for(record) if bars else {}
    workers = max([workers, *called.values()])
    gaps: list[Gap] = []
    for span in record.sittings:
        inside = [bar for bar in bars if span[0] <= 0.5 * (bar.started + bar.ended) <= span[1]]
        last = max([at for at in asked.values() if span[0] <= at <= span[1]], default=span[0])
        last = max([last, *(bar.started for bar in inside)])  # then the last point was handed out
        for worker in range(workers):
            mine = [bar for bar in inside if bar.worker == worker]
            if mine or worker < called.get(span[0], 0):  # else it was not there yet, or not any more
                gaps += _gaps(worker, mine, span, asked, last)
    if not asked:  # then nobody knows why somebody waited
        gaps = [replace(gap, cause="idle") for gap in gaps]
    return Timeline(bars, tuple(gaps), tuple(_time_of(worker, bars, gaps) for worker in range(workers)))


def _called_for(record: Record) -> dict[float, int]:
    """How many workers each driver was asked for, by when it began: one that evaluated nothing waited all the time."""
    calls = {event.at: event.call or {} for event in record.events if isinstance(event, Opened)}
    return {at: call["workers"] for at, call in calls.items() if call.get("workers")}


def _gaps(worker: int, bars: Sequence[Evaluation], span: Span, asked: dict[int, float], last: float) -> Iterator[Gap]:
    """Before each bar: until its point was chosen, then until it arrived. After the last: until all was handed out."""
    free_since, new = span[0], True
    for bar in bars:
        chosen = min(max(asked.get(bar.number, free_since), free_since), bar.started)
        yield from _gap(worker, free_since, chosen, "suggestion")
        yield from _gap(worker, chosen, bar.started, "pool", starting=new)
        free_since, new = max(free_since, bar.ended), bar.state in REPLACED
    yield from _gap(worker, free_since, min(max(last, free_since), span[1]), "suggestion")
    yield from _gap(worker, max(last, free_since), span[1], "nothing")


def _gap(worker: int, started: float, ended: float, cause: str, *, starting: bool = False) -> Iterator[Gap]:
    if ended - started >= SHORTEST:
        yield Gap(worker, started, ended, cause, starting)


def _time_of(worker: int, bars: Sequence[Evaluation], gaps: Sequence[Gap]) -> WorkerTime:
    idle = {cause: sum(gap.seconds for gap in gaps if gap.worker == worker and gap.cause == cause) for cause in WAITING}
    return WorkerTime(worker, sum(bar.seconds for bar in bars if bar.worker == worker), **idle)
