"""The workers' time: which of them evaluated what and when, and the causes of the gaps.

Evaluations that are running have a bar too, and so do those that were running when their driver ended.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter

from aegisbo.events import Asked, Closed, Ended, Lost, Opened, Resumed, Taken
from aegisbo.optimizer.found import CAUSES
from aegisbo.outcome import RESULTS
from aegisbo.review.record import Record, Span
from aegisbo.study.ledger import Ledger

WAITING = {**CAUSES, "idle": "idle"}  # the last: the cause is unknown without a study
SHORTEST = 1e-3  # seconds of a gap
UNKNOWN = -1  # worker
REPLACED = ("lost", "timed_out")  # outcomes after which a new process replaces the old one


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of a trial at a worker; a trial that was lost or retried has several."""

    number: int
    state: str  # of the trial after it, or "running", or "interrupted": its driver ended before it
    worker: int  # counted from 0; if not recorded, one that was free
    started: float  # seconds since 1970
    ended: float  # seconds since 1970; now, if it is running

    @property
    def seconds(self) -> float:
        """How long it took, so far."""
        return self.ended - self.started

    def overlaps(self, other: Evaluation) -> bool:
        """Whether the two ran at the same time."""
        return self.started < other.ended and other.started < self.ended


@dataclass(frozen=True)
class Gap:
    """A stretch of time in which a worker evaluated nothing."""

    worker: int
    started: float  # seconds since 1970
    ended: float
    cause: str  # one of `WAITING`
    starting: bool = False  # before the first evaluation of a process, which had to start and load the function

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
    idle: float  # for an unknown reason

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
    """The workers' time; without bars if the times are unknown."""
    bars = evaluations_of(record)
    asked = {number: decision.asked.at for number, decision in record.decisions.items()}
    workers = max((bar.worker + 1 for bar in bars), default=0)
    called = _called_for(record) if bars else {}
    workers = max([workers, *called.values()])
    gaps: list[Gap] = []
    for span in record.sittings:
        inside = [bar for bar in bars if span[0] <= 0.5 * (bar.started + bar.ended) <= span[1]]
        last = max([at for at in asked.values() if span[0] <= at <= span[1]], default=span[0])
        last = max([last, *(bar.started for bar in inside)])  # when the last point was handed out
        for worker in range(workers):
            mine = [bar for bar in inside if bar.worker == worker]
            if mine or worker < called.get(span[0], 0):  # else it had not started yet, or was gone
                gaps += _gaps(worker, mine, span, asked, last)
    if not asked:  # then the causes of idle time are unknown
        gaps = [replace(gap, cause="idle") for gap in gaps]
    return Timeline(bars, tuple(gaps), tuple(_time_of(worker, bars, gaps) for worker in range(workers)))


def _called_for(record: Record) -> dict[float, int]:
    """How many workers each driver was given, by when it began: one that evaluated nothing was idle all the time."""
    calls = {event.at: event.call or {} for event in record.events if isinstance(event, Opened)}
    return {at: call["workers"] for at, call in calls.items() if call.get("workers")}


def _gaps(worker: int, bars: Sequence[Evaluation], span: Span, asked: dict[int, float], last: float) -> Iterator[Gap]:
    """The gaps: before each bar until its point was chosen, then until it began; after the last bar, to the end."""
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


def evaluations_of(record: Record) -> tuple[Evaluation, ...]:
    """Every evaluation of a run whose times are known, in the order in which they began."""
    found = _distinct(_of_study(record)) if record.events else _of_trials(record)
    return tuple(sorted(_placed(found, record.capacity), key=attrgetter("started", "worker")))


def _of_trials(record: Record) -> list[Evaluation]:
    return [
        Evaluation(
            trial.number, trial.state, UNKNOWN if trial.worker is None else trial.worker, trial.started, trial.ended
        )
        for trial in record.trials
        if trial.state in (*RESULTS, "stopped") and trial.started is not None and trial.ended is not None
    ]


def _of_study(record: Record) -> Iterator[Evaluation]:
    """Evaluations with a recorded end, and those without: they are running, or their driver or copy ended."""
    ledger, last = Ledger(), 0.0
    since: dict[int, float] = {}  # when each running trial began
    for event in record.events:
        ledger.apply(event)
        match event:
            case Opened():  # the driver before it was killed
                yield from _left(since, "interrupted", last)
                since = dict.fromkeys(ledger.holders, event.at)
            case Closed():
                yield from _left(since, "interrupted", event.at)
                since = {}
            case Asked() | Taken() | Resumed():
                since[event.number] = event.at
            case Lost() if event.outcome.seconds is None:  # with its copy
                yield from _left({event.number: since.pop(event.number, event.at)}, "interrupted", event.at)
            case Lost():  # and run again at once
                yield from _recorded(event)
                since[event.number] = event.at
            case Ended():
                yield from _recorded(event)
        since = {number: began for number, began in since.items() if number in ledger.holders}
        last = event.at
    yield from _left(since, "running" if record.driven else "interrupted", record.now)


def _left(since: Mapping[int, float], state: str, end: float) -> Iterator[Evaluation]:
    for number, began in since.items():
        if began < end:
            yield Evaluation(number, state, UNKNOWN, began, end)


def _recorded(event: Ended | Lost) -> Iterator[Evaluation]:
    seconds, began, worker = event.outcome.seconds, event.outcome.began, event.outcome.worker
    if seconds is not None:
        began, worker = event.at - seconds if began is None else began, UNKNOWN if worker is None else worker
        yield Evaluation(event.number, event.outcome.state, worker, began, began + seconds)


def _distinct(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """The last record of each evaluation: one that was given up, or lost for the last time, has two."""
    found: dict[int, list[Evaluation]] = {}
    for new in evaluations:
        same = found.setdefault(new.number, [])
        if same and same[-1].overlaps(new):
            same.pop()
        same.append(new)
    return [evaluation for same in found.values() for evaluation in same]


def _placed(evaluations: Sequence[Evaluation], capacity: int) -> list[Evaluation]:
    """Give each a worker: if unknown, the one that became free last, else a new one."""
    placed = [evaluation for evaluation in evaluations if evaluation.worker != UNKNOWN]
    lanes: list[list[tuple[float, float]]] = [[] for _ in range(capacity)]  # when each worker is busy, in order
    for evaluation in placed:
        insort(lanes[evaluation.worker], (evaluation.started, evaluation.ended))
    for evaluation in sorted(evaluations, key=attrgetter("started")):
        if evaluation.worker == UNKNOWN:
            span = evaluation.started, evaluation.ended
            free = {
                worker: since for worker, lane in enumerate(lanes) if (since := _free_since(lane, span)) is not None
            }
            if not free:
                lanes.append([])
            worker = max(free, key=lambda worker: free[worker], default=len(lanes) - 1)
            insort(lanes[worker], span)
            placed.append(replace(evaluation, worker=worker))
    return placed


def _free_since(lane: Sequence[tuple[float, float]], span: tuple[float, float]) -> float | None:
    """When a worker with these busy times became free before the span; None if it is busy during the span."""
    place = bisect(lane, span)
    before = lane[place - 1][1] if place else 0.0
    after = lane[place][0] if place < len(lane) else inf
    return before if before <= span[0] and span[1] <= after else None
