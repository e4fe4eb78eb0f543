"""The state of a run: what is known after the events so far.

Only `State.apply` changes what is known: a running study, a continued one, a replay, a report and a command all use
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.random import Generator

from aegisbo.errors import AegisError, StudyError
from aegisbo.events import Asked, Created, Ended, Event, Joined, Opened, Resumed, making_sense
from aegisbo.optimizer import Core, Settings
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.registry import resolve
from aegisbo.study.drivers import Drivers
from aegisbo.study.ledger import Ledger


class State:
    """All that is known about a run. Make one with `after`."""

    def __init__(self, created: Created, given: Settings | None = None) -> None:
        self.created = created
        self.optimizer = optimizer_of(created, given)
        self.ledger = Ledger()
        self.drivers = Drivers(created, self.ledger.copies)
        self.asked: dict[int, Asked] = {}  # the last one of each trial, by number
        self.ended: dict[int, Ended] = {}
        self.objective = created.objective  # as it was described last

    @classmethod
    def after(cls, events: Iterable[Event], given: Settings | None = None) -> State:
        """What is known after all events of a study.

        A strategy object and constraint functions cannot be stored: they come from the `given` settings, and only
        choosing points needs them.

        Raises:
            StudyError: an event makes no sense.
        """
        events = list(events)
        if not events:
            raise StudyError("The study does not say how it was begun: it is damaged. Restore it from a copy.")
        first, *rest = events
        if not isinstance(first, Created):
            raise StudyError(f"The study begins with {first.kind!r} instead of 'created': it is damaged.")
        state = cls(first, given)
        for event in rest:
            state.apply(event)
        return state

    @property
    def settings(self) -> Settings:
        """The settings that the study began with, and its current bounds."""
        return self.optimizer.settings

    def apply(self, event: Event) -> None:
        """Apply one more event, which must make sense."""
        with making_sense(event):
            self.optimizer.apply(event)
            self.drivers.apply(event)
            self.ledger.apply(event)
        if isinstance(event, Asked):
            self.asked[event.number] = event
        elif isinstance(event, Ended):
            self.ended[event.number] = event
        elif isinstance(event, Resumed):
            del self.ended[event.number]
        elif isinstance(event, Opened | Joined):
            self.objective = event.objective or self.objective


@dataclass(frozen=True, repr=False)
class AbsentStrategy:
    """Replaces a strategy that cannot be made here: enough to look at the results."""

    text: str
    why: str  # why it cannot be made
    weighs_time: ClassVar = True  # it may, as far as known
    several_objectives: ClassVar = True

    def __repr__(self) -> str:
        return self.text

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """Refuse."""
        raise StudyError(f"The study was made with the strategy {self.text}, and no choice can be made: {self.why}")


def optimizer_of(created: Created, given: Settings | None) -> Core:
    """The optimizer with which a study began."""
    described = dict(created.optimizer)
    with making_sense(created):
        strategy = None if given is None else given.unwritten
        if strategy is None or described["strategy"] is not None:
            strategy = _absent(described)
        if strategy is not None:
            described |= {"strategy": None, "preset": None}
        here = (None, ()) if given is None else (given.space, given.objectives)
        return Core(Settings.from_description(described, strategy, *here))


def _absent(described: Mapping[str, Any]) -> AbsentStrategy | None:
    """A replacement for a strategy that the study does not describe, or that cannot be made here."""
    text = described["strategy"]
    if text is None:
        why = "it is an object that is not part of the file. Pass it to minimize to continue."
        return AbsentStrategy(described.get("strategy_object", "of unknown kind"), why)
    try:
        resolve(text, described["preset"])
    except AegisError as error:  # for example, of a package that is not installed
        return AbsentStrategy(text, str(error))
    return None
