"""The record of a run: its trials, when each was chosen and evaluated, and what each choice knew."""

from __future__ import annotations

import os
import time
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aegisbo.optimizer import Found, Optimizer, Trial
from aegisbo.outcome import FAILURES
from aegisbo.study.drivers import COMING, GOING, ending, sittings
from aegisbo.study.endings import ENDINGS
from aegisbo.study.events import Event, read_events
from aegisbo.study.history import optimizer_after
from aegisbo.study.ledger import ledger_of
from aegisbo.study.lock import is_driven

Span = tuple[float, float]  # seconds since 1970


@dataclass(frozen=True)
class Decision:
    """When a point was chosen, and what the choice knew."""

    number: int
    at: float  # when it was made, in seconds since 1970
    seconds: float  # that it took
    known: int  # results it knew
    behind: int  # results that had come in, but were not known when the trial was chosen
    pending: tuple[int, ...]  # trials under evaluation, as far as it knew


@dataclass(frozen=True)
class Record:
    """All that is known of a run. Make one with `of_study` or `of_optimizer`."""

    optimizer: Optimizer
    name: str  # of the run
    ending: str  # why it ended, or that it goes on
    driven: bool = False  # somebody drives it at this moment
    events: Sequence[Event] = ()  # of its study, if it has one
    now: float = 0.0  # when this was read, in seconds since 1970
    path: Path | None = None  # of the study

    @classmethod
    def of_study(cls, path: str | os.PathLike[str]) -> Record:
        """The record of a study, which may be running at this moment.

        Raises:
            StudyError: there is no such file, or it is no study.
        """
        path = Path(path)
        return cls.of_events(read_events(path), path, driven=is_driven(path))

    @classmethod
    def of_events(cls, events: Sequence[Event], path: Path, *, driven: bool) -> Record:
        """The record of a study that holds these events."""
        now = time.time() if driven else events[-1].at
        return cls(optimizer_after(events), path.stem, ending(path, events), driven, events, now, path)

    @classmethod
    def of_optimizer(cls, optimizer: Optimizer, ending: str = "") -> Record:
        """The record of a run without a study; it does not know when its points were chosen."""
        now = max((trial.ended for trial in optimizer.trials if trial.ended is not None), default=0.0)
        return cls(optimizer, "run", ending or optimizer.found().ending, now=now)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """All trials asked for, by number."""
        return self.optimizer.trials

    @property
    def maximize(self) -> bool:
        """Whether larger values are better."""
        return self.optimizer.settings.maximize

    @cached_property
    def result(self) -> Found[Optimizer]:
        """The best point so far."""
        return self.optimizer.found(self.ending)

    @cached_property
    def sittings(self) -> tuple[Span, ...]:
        """When each driver was at work."""
        if self.events:
            spans = sittings(self.events)
            return (*spans[:-1], (spans[-1][0], self.now)) if self.driven and spans else tuple(spans)
        times = [(t.started, t.ended) for t in self.trials if t.started is not None and t.ended is not None]
        return ((min(start for start, _ in times), max(end for _, end in times)),) if times else ()

    def elapsed(self, at: float) -> float:
        """Seconds of work until a moment: the time between two drivers does not count."""
        return sum(min(max(at - start, 0.0), end - start) for start, end in self.sittings)

    @cached_property
    def ended(self) -> tuple[Trial, ...]:
        """The trials that have ended with a result, in the order in which they did."""
        times = {event.number: event.id for event in self.events if event.kind in ENDINGS}
        ended = [trial for trial in self.trials if trial.state in ("done", *FAILURES)]
        if self.events:
            return tuple(sorted(ended, key=lambda trial: times.get(trial.number, 0)))
        return tuple(sorted(ended, key=lambda trial: (trial.ended or 0.0, trial.number)))

    def ended_at(self, trial: Trial) -> float | None:
        """When a trial ended, in seconds since 1970; None if nobody knows."""
        return self._moments.get(trial.number, trial.ended)

    @cached_property
    def _moments(self) -> dict[int, float]:
        """When each trial ended, as recorded where there is a study."""
        return {event.number: event.at for event in self.events if event.kind in ENDINGS and event.number is not None}

    @cached_property
    def decisions(self) -> Mapping[int, Decision]:
        """The choices, by number of the trial; none without a study."""
        return {decision.number: decision for decision in _decisions(self.events)}

    @cached_property
    def capacity(self) -> int:
        """How many workers there were, as far as is known."""
        told = [len(event.body["idle"]) for event in self.events if event.kind in GOING]
        seen = [event.body["worker"] + 1 for event in self.events if event.body.get("worker") is not None]
        seen += [trial.worker + 1 for trial in self.trials if trial.worker is not None]
        return max([*told, *seen], default=0)

    @cached_property
    def in_flight(self) -> int:
        """How many points were under evaluation at a time, at most."""
        pending: set[int | None] = set()
        most = self.optimizer.most_pending
        for event in self.events:
            if event.kind == "asked":
                pending.add(event.number)
                most = max(most, len(pending))
            elif event.kind in ENDINGS:
                pending.discard(event.number)
        return most

    @property
    def build(self) -> Mapping[str, Any]:
        """The versions with which the study was begun."""
        return self.events[0].body["build"] if self.events else {}

    @property
    def call(self) -> Mapping[str, Any]:
        """What the last driver was asked for, and what was changed since: its budget, workers, target and limits."""
        calls = [event.body.get("call", {}) for event in self.events if event.kind in COMING]
        return {**(calls[-1] if calls else {}), **ledger_of(self.events).terms.changed}

    @property
    def objective(self) -> str | None:
        """The function that is minimized, as far as the study knows it."""
        named = [event.body["objective"] for event in self.events if "objective" in event.body]
        return str(named[-1]["name"]) if named else None


def _decisions(events: Iterable[Event]) -> Iterable[Decision]:
    """What each choice knew: of results, those up to the event that it names; of choices, all before it."""
    results: list[Event] = []  # that no choice has known yet
    pending: dict[int, None] = {}
    ids: list[int] = []
    for event in events:
        if event.kind == "asked":
            seen = event.body["seen"]
            while results and results[0].id <= seen:
                _learn(results.pop(0), pending)
            known = bisect(ids, seen)
            yield Decision(event.number or 0, event.at, event.body["seconds"], known, len(ids) - known, tuple(pending))
            pending[event.number or 0] = None
        elif event.kind in (*ENDINGS, "retried", "forgotten"):
            results.append(event)
            if event.kind in ENDINGS:
                ids.append(event.id)


def _learn(event: Event, pending: dict[int, None]) -> None:
    if event.kind == "retried":
        pending.update(dict.fromkeys(event.body["numbers"]))
        return
    for number in event.body["numbers"] if event.kind == "forgotten" else [event.number or 0]:
        pending.pop(number, None)
