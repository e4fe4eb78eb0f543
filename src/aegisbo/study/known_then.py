"""What each decision knew when it was made, for replays and reports: choices, and stops of running evaluations."""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aegisbo.events import (
    Added,
    Asked,
    Ended,
    Event,
    Forgotten,
    Halted,
    Observed,
    Reported,
    Retried,
    Widened,
    making_sense,
)
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.queue import ADDED
from aegisbo.study.ledger import Ledger
from aegisbo.study.state import State

LESSONS = (Ended, Reported, Observed, Retried, Forgotten, Widened)  # what is learned from


class Knowledge(NamedTuple):
    """What a decision knew."""

    news: tuple[Event, ...]  # events that were new to it, in order
    known: int  # results that it knew
    behind: int  # results that had come in but were not known to it
    pending: tuple[int, ...]  # trials under evaluation, as far as it knew


@dataclass(frozen=True)
class ChoiceMade:
    """A choice of a run, and what it knew."""

    asked: Asked
    news: tuple[Event, ...]  # as above
    known: int
    behind: int
    pending: tuple[int, ...]


def choices(events: Iterable[Event]) -> Iterator[ChoiceMade]:
    """Every choice and what it knew."""
    for decision, knowledge in decisions(events):
        if isinstance(decision, Asked):
            yield ChoiceMade(decision, *knowledge)


def decisions(events: Iterable[Event]) -> Iterator[tuple[Asked | Halted, Knowledge]]:
    """Every decision and what it knew: all decisions before it, and what was learned up to the event that it names."""
    unknown: deque[Event] = deque()
    added: deque[Event] = deque()  # known only to the choice that took them
    results: list[int] = []
    ledger = Ledger()
    for event in events:
        if isinstance(event, Asked | Halted):
            news = []
            while unknown and unknown[0].id <= event.seen:
                news.append(unknown.popleft())
            if isinstance(event, Asked) and event.note.get("move") == ADDED and added:
                news.append(added.popleft())
            for lesson in news:
                ledger.apply(lesson)
            known = bisect(results, event.seen)
            yield event, Knowledge(tuple(news), known, len(results) - known, tuple(ledger.holders))
            ledger.apply(event)
        elif isinstance(event, Added):
            added.append(event)
        elif isinstance(event, LESSONS):
            unknown.append(event)
            if isinstance(event, Ended):
                results.append(event.id)


def before(events: Sequence[Event], given: Settings | None = None) -> Iterator[tuple[Asked | Halted, Core]]:
    """Each decision, with the optimizer as it was then; the same object advances to the next decision."""
    optimizer = State.after(events[:1], given).optimizer
    for decision, knowledge in decisions(events):
        for event in knowledge.news:
            with making_sense(event):
                optimizer.apply(event)
        yield decision, optimizer
        with making_sense(decision):
            optimizer.apply(decision)
