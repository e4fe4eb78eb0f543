"""Which worker evaluated what, and when: also what is running, and what was running when its driver ended."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter

from aegisbo.events import Asked, Closed, Ended, Event, Forgotten, Lost, Opened, Retried, Taken
from aegisbo.report.record import Record


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
    ended = _ended(record.events) if record.events else _of_trials(record)
    cut_short = list(_cut_short(record)) if record.events else []
    return tuple(sorted(_placed([*ended, *cut_short], record.capacity), key=attrgetter("started", "worker")))


def _of_trials(record: Record) -> list[Evaluation]:
    return [
        Evaluation(
            trial.number, trial.state, UNKNOWN if trial.worker is None else trial.worker, trial.started, trial.ended
        )
        for trial in record.ended
        if trial.started is not None and trial.ended is not None
    ]


def _ended(events: Iterable[Event]) -> list[Evaluation]:
    """Those whose end was recorded."""
    found: dict[int, list[Evaluation]] = {}
    for event in events:
        if not isinstance(event, Ended | Lost) or event.outcome.seconds is None:
            continue
        seconds, began, worker = event.outcome.seconds, event.outcome.began, event.outcome.worker
        started, worker = event.at - seconds if began is None else began, UNKNOWN if worker is None else worker
        new = Evaluation(event.number, event.outcome.state, worker, started, started + seconds)
        same = found.setdefault(event.number, [])
        if same and same[-1].overlaps(new):  # given up and late, or lost for the last time: two records of one
            same.pop()
        same.append(new)
    return [evaluation for same in found.values() for evaluation in same]


def _cut_short(record: Record) -> Iterator[Evaluation]:
    """Those without an end: a driver or a copy that ended left them, or they are running now."""
    open_since: dict[int, float | None] = {}  # None: nobody works on it
    last = 0.0
    for event in record.events:
        if isinstance(event, Opened | Closed):
            opened = isinstance(event, Opened)
            yield from _left(open_since, "interrupted", last if opened else event.at)
            open_since = dict.fromkeys(open_since, event.at if opened else None)
        elif isinstance(event, Lost) and event.outcome.seconds is None:  # with its copy
            yield from _left({event.number: open_since.get(event.number)}, "interrupted", event.at)
            open_since[event.number] = None
        else:
            _follow(event, open_since)
        last = event.at
    yield from _left(open_since, "running" if record.driven else "interrupted", record.now)


def _follow(event: Event, open_since: dict[int, float | None]) -> None:
    """Let one more event have happened to the trials that are open."""
    match event:
        case Asked() | Lost() | Taken():  # what was lost is run again at once
            open_since[event.number] = event.at
        case Ended():
            open_since.pop(event.number, None)
        case Retried():
            open_since.update(dict.fromkeys(event.numbers))
        case Forgotten():
            for number in event.numbers:
                open_since.pop(number, None)


def _left(open_since: dict[int, float | None], state: str, end: float) -> Iterator[Evaluation]:
    for number, since in open_since.items():
        if since is not None and since < end:
            yield Evaluation(number, state, UNKNOWN, since, end)


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
