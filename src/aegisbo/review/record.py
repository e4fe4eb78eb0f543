"""The record of a run: its trials, when each was chosen and evaluated, and what each choice knew."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from aegisbo.address import Address, Named, Place, place_of
from aegisbo.errors import InvalidInput
from aegisbo.events import Event
from aegisbo.optimizer import Core, Found, Trial
from aegisbo.optimizer.objectives import Objective
from aegisbo.outcome import RESULTS
from aegisbo.stopping.expected_end import ExpectedEnd
from aegisbo.study.export import table_of
from aegisbo.study.known_then import ChoiceMade, StopMade, choices, stops
from aegisbo.study.lock import is_driven
from aegisbo.study.reading import exists, read_events
from aegisbo.study.state import State

Span = tuple[float, float]  # seconds since 1970
Run = Found[Core] | Core | Named  # a run, in any form


@dataclass(frozen=True)
class Record:
    """All that is known about a run. Make one with `of_study` or `of_optimizer`."""

    optimizer: Core
    name: str  # of the run
    ending: str  # why it ended, or that it is running
    driven: bool = False  # whether it has a driver at this moment
    events: Sequence[Event] = ()  # of its study, if it has one
    now: float = 0.0  # when this was read, in seconds since 1970
    path: Place | None = None  # of the study
    state: State | None = None  # of the study

    @classmethod
    def of_study(cls, path: Named) -> Record:
        """The record of a study, which may be running at this moment.

        Raises:
            StudyError: there is no such file, or it is no study.
        """
        place = place_of(path)
        return cls.of_events(read_events(place), place, driven=is_driven(place))

    @classmethod
    def of_events(cls, events: Sequence[Event], path: Place, *, driven: bool) -> Record:
        """The record of a study that holds these events."""
        now = time.time() if driven else events[-1].at
        state = State.after(events)
        return cls(state.optimizer, path.stem, state.drivers.ending(path), driven, events, now, path, state)

    @classmethod
    def of_optimizer(cls, optimizer: Core, ending: str = "") -> Record:
        """The record of a run without a study; it does not know when its points were chosen."""
        now = max((trial.ended for trial in optimizer.trials if trial.ended is not None), default=0.0)
        return cls(optimizer, "run", ending or optimizer.found().ending, now=now)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """All trials asked for, by number."""
        return self.optimizer.trials

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Several objectives; empty if there is one number."""
        return self.optimizer.settings.objectives

    @property
    def center(self) -> Trial | None:
        """The trial through which the model is shown: the best, or of several objectives the compromise."""
        return self.result.compromise if self.objectives else self.result.best

    @property
    def maximize(self) -> bool:
        """Whether larger values are better."""
        return self.optimizer.settings.maximize

    @cached_property
    def result(self) -> Found[Core]:
        """The best point so far."""
        return self.optimizer.found(self.ending)

    @cached_property
    def sittings(self) -> tuple[Span, ...]:
        """When each driver was at work."""
        if self.state is not None:
            spans = self.state.drivers.sittings
            return (*spans[:-1], (spans[-1][0], self.now)) if self.driven and spans else tuple(spans)
        times = [(t.started, t.ended) for t in self.trials if t.started is not None and t.ended is not None]
        return ((min(start for start, _ in times), max(end for _, end in times)),) if times else ()

    def elapsed(self, at: float) -> float:
        """Seconds of work until a moment: the time between two drivers does not count."""
        return sum(min(max(at - start, 0.0), end - start) for start, end in self.sittings)

    @cached_property
    def ended(self) -> tuple[Trial, ...]:
        """The trials that have ended with a result, in the order of their ends."""
        ended = [trial for trial in self.trials if trial.state in RESULTS]
        if self.state is not None:
            times = self.state.ended
            return tuple(sorted(ended, key=lambda trial: times[trial.number].id if trial.number in times else 0))
        return tuple(sorted(ended, key=lambda trial: (trial.ended or 0.0, trial.number)))

    def ended_at(self, trial: Trial) -> float | None:
        """When a trial ended, in seconds since 1970; None if unknown."""
        recorded = None if self.state is None else self.state.ended.get(trial.number)
        return trial.ended if recorded is None else recorded.at

    @cached_property
    def decisions(self) -> Mapping[int, ChoiceMade]:
        """The choices, by number of the trial; none without a study."""
        return {choice.asked.number: choice for choice in choices(self.events)}

    @property
    def suggestion(self) -> float:
        """Mean seconds that a choice took; 0 if none is known."""
        waits = [decision.asked.seconds for decision in self.decisions.values()]
        return fmean(waits) if waits else 0.0

    @cached_property
    def stops(self) -> Mapping[int, StopMade]:
        """The decisions that stopped a trial, if it has not gone on since; none without a study."""
        found = {stop.halted.number: stop for stop in stops(self.events)}
        return {number: stop for number, stop in found.items() if self.trials[number].state == "stopped"}

    @cached_property
    def expected_ends(self) -> Mapping[int, ExpectedEnd]:
        """Where evaluations that run will end, and where stopped ones would have, as far as can be said now."""
        return self.optimizer.expected_ends()

    @cached_property
    def capacity(self) -> int:
        """How many workers there were, as far as known."""
        told = 0 if self.state is None else self.state.drivers.workers
        return max([told, *(trial.worker + 1 for trial in self.trials if trial.worker is not None)])

    @property
    def own_workers(self) -> int:
        """How many worked at a time: the workers or, where none are known, the most that were pending; one at least."""
        return max(self.capacity or self.optimizer.most_pending, 1)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each point observed elsewhere and each trial, as it is exported; none without a study."""
        return [] if self.state is None else table_of(self.state)

    @property
    def build(self) -> Mapping[str, Any]:
        """The versions with which the study was begun."""
        return {} if self.state is None else self.state.created.build

    @property
    def call(self) -> Mapping[str, Any]:
        """The options of the last driver (budget, workers, target, limits), with later changes."""
        return {} if self.state is None else {**self.state.drivers.call, **self.state.ledger.terms.changed}

    @property
    def objective(self) -> str | None:
        """The function that is minimized, as far as the study knows it."""
        known = None if self.state is None else self.state.objective
        return None if known is None else str(known["name"])


def record_of(run: Any) -> Record:
    """The record of a result, of an optimizer or of a study; a study is read as it is now.

    Raises:
        InvalidInput: it is none of these.
        StudyError: there is no such file, or it is no study.
    """
    if isinstance(run, Core):
        return Record.of_optimizer(run)
    if isinstance(run, Found):
        if run.study is not None and exists(run.study):
            return Record.of_study(run.study)
        return Record.of_optimizer(run.optimizer, run.ending)
    if isinstance(run, str | os.PathLike | Address):
        return Record.of_study(run)
    raise InvalidInput(f"Expected a result, an optimizer or the file of a study, got {run!r}.")
