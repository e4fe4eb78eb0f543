"""What each choice knew when it was made, and each decision about an evaluation, for replays and reports."""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aegisbo.events import (
    Added,
    Asked,
    Ended,
    Event,
    Forgotten,
    Halted,
    Observed,
    Reported,
    Resumed,
    Retried,
    Widened,
    making_sense,
)
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.trial import ADDED
from aegisbo.outcome import Report
from aegisbo.study.ledger import Ledger
from aegisbo.study.state import State

HAPPENED = (Ended, Reported, Observed, Retried, Forgotten)  # to trials
LESSONS = (*HAPPENED, Halted, Widened)  # what a strategy learns from


@dataclass(frozen=True)
class ChoiceMade:
    """A choice of a run, and what it knew."""

    asked: Asked
    news: tuple[Event, ...]  # events that were new to it, in order
    known: int  # results that it knew
    behind: int  # results that had come in but were not known to it
    pending: tuple[int, ...]  # trials under evaluation, as far as it knew


def choices(events: Iterable[Event]) -> Iterator[ChoiceMade]:
    """Every choice and what it knew: all choices before it, and what it had learned up to the event that it names."""
    unknown: deque[Event] = deque()
    added: deque[Event] = deque()  # known only to the choice that took them
    news: list[Event] = []
    results: list[int] = []
    ledger = Ledger()
    for event in events:
        if isinstance(event, Asked | Resumed):
            while unknown and unknown[0].id <= event.seen:
                ledger.apply(unknown[0])
                news.append(unknown.popleft())
        if isinstance(event, Resumed):  # a decision that all later choices know
            ledger.apply(event)
            news.append(event)
        elif isinstance(event, Asked):
            if event.note.get("move") == ADDED and added:
                news.append(added.popleft())
            known = bisect(results, event.seen)
            yield ChoiceMade(event, tuple(news), known, len(results) - known, tuple(ledger.holders))
            ledger.apply(event)
            news = []
        elif isinstance(event, Added):
            added.append(event)
        elif isinstance(event, LESSONS):
            unknown.append(event)
            if isinstance(event, Ended):
                results.append(event.id)


@dataclass(frozen=True)
class StopMade:
    """A decision to stop an evaluation, and what it knew."""

    halted: Halted
    known: int  # results that it knew
    others: int  # evaluations besides this one that had reported
    report: Report | None  # the last one of this evaluation that it knew


def stops(events: Iterable[Event]) -> Iterator[StopMade]:
    """Every decision to stop an evaluation and what it knew: what had happened up to the event that it names."""
    unknown: deque[Event] = deque()
    results, last = 0, dict[int, Report]()
    for event in events:
        if isinstance(event, Ended | Reported):
            unknown.append(event)
        while isinstance(event, Halted) and unknown and unknown[0].id <= event.seen:
            news = unknown.popleft()
            results += isinstance(news, Ended)
            last |= {news.number: news.report} if isinstance(news, Reported) else {}
        if isinstance(event, Halted):
            yield StopMade(event, results, len(last.keys() - {event.number}), last.get(event.number))


def before(events: Sequence[Event], given: Settings | None = None) -> Iterator[tuple[Asked, Core]]:
    """Each choice, with the optimizer as it was then; the same object advances to the next choice."""
    optimizer = State.after(events[:1], given).optimizer
    for choice in choices(events):
        for event in choice.news:
            _happen(optimizer, event)
        yield choice.asked, optimizer
        _happen(optimizer, choice.asked)


def before_stops(events: Sequence[Event], given: Settings | None = None) -> Iterator[tuple[Halted | Resumed, Core]]:
    """Each decision to stop an evaluation or to let it go on, with the optimizer as it was then.

    Copies decide side by side: what one knew when it decided is no measure of what another's choice knew. So these are
    gone through for themselves.
    """
    optimizer = State.after(events[:1], given).optimizer
    unknown: deque[Event] = deque()
    for event in events[1:]:
        if isinstance(event, HAPPENED):
            unknown.append(event)
            continue
        if isinstance(event, Halted | Resumed):
            while unknown and unknown[0].id <= event.seen:
                _happen(optimizer, unknown.popleft())
            yield event, optimizer
        _happen(optimizer, event)


def _happen(optimizer: Core, event: Event) -> None:
    with making_sense(event):
        optimizer.apply(event)
