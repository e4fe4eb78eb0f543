"""Which worker evaluated what, and when: also what is running, and what was running when its driver ended."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter

from aegisbo.events import Asked, Closed, Ended, Lost, Opened, Taken
from aegisbo.report.record import Record
from aegisbo.study.ledger import Ledger


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of a trial at a worker; a trial that was lost or retried has several."""

    number: int
    state: str  # of the trial after it, or "running", or "interrupted": its driver ended before it
    worker: int  # counted from 0; one that was free, where no record says which it was
    started: float  # seconds since 1970
    ended: float  # seconds since 1970; now, if it is running

    @property
    def seconds(self) -> float:
        """How long it took, so far."""
        return self.ended - self.started

    def overlaps(self, other: Evaluation) -> bool:
        """Whether the two went on at the same time."""
        return self.started < other.ended and other.started < self.ended


UNKNOWN = -1  # worker


def evaluations_of(record: Record) -> tuple[Evaluation, ...]:
    """Every evaluation of a run, in the order in which they began; none of those whose times nobody knows."""
    found = _distinct(_of_study(record)) if record.events else _of_trials(record)
    return tuple(sorted(_placed(found, record.capacity), key=attrgetter("started", "worker")))


def _of_trials(record: Record) -> list[Evaluation]:
    return [
        Evaluation(
            trial.number, trial.state, UNKNOWN if trial.worker is None else trial.worker, trial.started, trial.ended
        )
        for trial in record.ended
        if trial.started is not None and trial.ended is not None
    ]


def _of_study(record: Record) -> Iterator[Evaluation]:
    """Those whose end was recorded, and those without: a driver or a copy that ended left them, or they run now."""
    ledger, last = Ledger(), 0.0
    since: dict[int, float] = {}  # when the trials began that somebody runs
    for event in record.events:
        ledger.apply(event)
        match event:
            case Opened():  # the driver before it was killed
                yield from _left(since, "interrupted", last)
                since = dict.fromkeys(ledger.holders, event.at)
            case Closed():
                yield from _left(since, "interrupted", event.at)
                since = {}
            case Asked() | Taken():
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
    """The last record of each: one that was given up and late, or lost for the last time, has two."""
    found: dict[int, list[Evaluation]] = {}
    for new in evaluations:
        same = found.setdefault(new.number, [])
        if same and same[-1].overlaps(new):
            same.pop()
        same.append(new)
    return [evaluation for same in found.values() for evaluation in same]


def _placed(evaluations: Sequence[Evaluation], capacity: int) -> list[Evaluation]:
    """All with a worker each: where it is unknown, the one that had become free last, else a further one."""
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
    """Since when a worker that is busy at these times was free when the span began; None if it is not, all along."""
    place = bisect(lane, span)
    before = lane[place - 1][1] if place else 0.0
    after = lane[place][0] if place < len(lane) else inf
    return before if before <= span[0] and span[1] <= after else None
