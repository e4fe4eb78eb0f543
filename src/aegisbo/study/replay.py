"""Replay: every decision of a run made again, from what was known when it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from aegisbo.address import Named, place_of
from aegisbo.events import Asked, Halted, Resumed, making_sense
from aegisbo.optimizer import Core
from aegisbo.optimizer.objectives import Objectives, objectives_of
from aegisbo.space.constraints import Constraint
from aegisbo.study.agreement import build
from aegisbo.study.known_then import before, before_stops
from aegisbo.study.reading import read_events
from aegisbo.study.state import State


@dataclass(frozen=True)
class Difference:
    """A decision that came out differently."""

    number: int
    recorded: Mapping[str, Any]
    replayed: Mapping[str, Any]
    distance: float  # largest difference of a coordinate of the cube


@dataclass(frozen=True)
class Replay:
    """What a replay found."""

    decisions: int
    differences: tuple[Difference, ...]
    rebuilt: Mapping[str, tuple[str, str]]  # changed versions that the digits depend on: (then, now)

    @property
    def faithful(self) -> bool:
        """Whether every decision came out the same, to the last digit."""
        return not self.differences

    @property
    def largest_distance(self) -> float:
        return max((difference.distance for difference in self.differences), default=0.0)


def replay(
    path: Named,
    tick: Callable[[int, int], None] = lambda done, all: None,
    constraints: Iterable[Constraint] = (),
    objectives: Objectives = (),
) -> Replay:
    """Make every decision of the study again, each from what was known at the time.

    Args:
        path: the study file.
        tick: called after each decision with how many are done and how many there are.
        constraints: those constraints of the run that are functions, which the file does not hold.
        objectives: the objectives of the run, if some of them are functions.

    Returns:
        Which decisions came out differently, and what has changed in the environment since.

    Raises:
        StudyError: the file cannot be read, or its strategy was an object, which the file does not hold.
        InvalidInput: a constraint or an objective that is a function is missing.
    """
    events = read_events(place_of(path))
    state = State.after(events)  # refuses events that make no sense
    space = state.settings.space.given(constraints)
    given = replace(state.settings, space=space).with_functions(objectives_of(objectives, space))
    stops = sum(isinstance(event, Halted | Resumed) for event in events)
    made = (_compare(optimizer, asked) for asked, optimizer in before(events, given=given))
    stopped = (_compare_stop(optimizer, event) for event, optimizer in before_stops(events, given=given))
    differences = []
    for done, difference in enumerate(chain(made, stopped), start=1):
        if difference is not None:
            differences.append(difference)
        tick(done, len(state.asked) + stops)
    then, now = state.created.build, build()
    rebuilt = {key: (then.get(key, "unknown"), now[key]) for key in now if then.get(key) != now[key]}
    return Replay(len(state.asked) + stops, tuple(differences), rebuilt)


def _compare(optimizer: Core, asked: Asked) -> Difference | None:
    with making_sense(asked):  # for example of its memory
        choice = optimizer.choose(asked.note.get("within_seconds"))
    if choice.params == asked.params and choice.memory == asked.memory:
        return None
    distance = np.abs(optimizer.space.to_unit(choice.params) - optimizer.space.to_unit(asked.params)).max()
    return Difference(choice.number, asked.params, choice.params, float(distance))


def _compare_stop(optimizer: Core, event: Halted | Resumed) -> Difference | None:
    if isinstance(event, Halted):
        return _compare_halt(optimizer, event)
    resumed = optimizer.resumption()
    if resumed is not None and resumed.number == event.number:
        return None
    return Difference(event.number, {"resumed": event.number}, {"resumed": resumed and resumed.number}, 0.0)


def _compare_halt(optimizer: Core, halted: Halted) -> Difference | None:
    again = optimizer.verdict(halted.number)
    if again is not None and again.reason == halted.reason:
        return None
    replayed = {} if again is None else {"stopped": again.reason}
    return Difference(halted.number, {"stopped": halted.reason}, replayed, 0.0)
