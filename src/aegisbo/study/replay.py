"""Replay: every decision of a run made again, from what was known when it was made."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo.optimizer import Optimizer
from aegisbo.optimizer.queue import ADDED
from aegisbo.space import Space
from aegisbo.space.constraints import Constraint
from aegisbo.study.endings import ENDINGS
from aegisbo.study.events import Event, read_events
from aegisbo.study.history import RESULTS, History, follow, optimizer_after
from aegisbo.study.soundness import making_sense
from aegisbo.study.study import build


@dataclass(frozen=True)
class Difference:
    """A decision that came out otherwise."""

    number: int
    recorded: Mapping[str, Any]
    replayed: Mapping[str, Any]
    distance: float  # largest difference of a coordinate of the cube


@dataclass(frozen=True)
class Replay:
    """What a replay found."""

    decisions: int
    differences: tuple[Difference, ...]
    rebuilt: Mapping[str, tuple[str, str]]  # what the digits depend on and has changed: (then, now)

    @property
    def faithful(self) -> bool:
        """Whether every decision came out the same, to the last digit."""
        return not self.differences

    @property
    def largest_distance(self) -> float:
        return max((difference.distance for difference in self.differences), default=0.0)


def replay(
    path: str | os.PathLike[str],
    tick: Callable[[int, int], None] = lambda done, all: None,
    constraints: Iterable[Constraint] = (),
) -> Replay:
    """Make every decision of the study again, each from what the record says was known then.

    Args:
        path: the study file.
        tick: is told after each decision how many are done, and of how many.
        constraints: the functions among the constraints of the run, which are not part of the file.

    Returns:
        Which decisions came out otherwise, and what has changed in the environment since.

    Raises:
        StudyError: the file cannot be read, or its strategy was an object that is not part of it.
        InvalidInput: a constraint was a function, and is missing.
    """
    created, *events = read_events(Path(path))
    optimizer_after([created, *events])  # which refuses events that make no sense
    space = Space.from_description(created.body["optimizer"]["space"]).given(constraints)
    past = _Past(History(created, space=space))
    asked = [event for event in events if event.kind == "asked"]
    results = deque(event for event in events if event.kind in RESULTS)
    added = deque(event for event in events if event.kind == "added")  # known to a choice if it is the one that took it
    differences = []
    for done, decision in enumerate(asked, start=1):
        while results and results[0].id <= decision.body["seen"]:
            past.add(results.popleft())
        if decision.body["note"].get("move") == ADDED and added:
            past.add(added.popleft())
        difference = _compare(past.optimizer, decision)
        if difference is not None:
            differences.append(difference)
        past.add(decision)  # whatever came out: the next decision was made after the recorded one
        tick(done, len(asked))
    then, now = created.body["build"], build()
    rebuilt = {key: (then.get(key, "unknown"), now[key]) for key in now if then.get(key) != now[key]}
    return Replay(len(asked), tuple(differences), rebuilt)


class _Past:
    """The optimizer as it was then, one event further each time; it is made anew only where it cannot follow."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.optimizer = history.optimizer()

    def add(self, event: Event) -> None:
        """Let one more event have happened."""
        self._history.add(event)
        if event.kind == "widened" or self._has_ended(event):
            self.optimizer = self._history.optimizer()
        else:
            follow(self.optimizer, event)

    def _has_ended(self, event: Event) -> bool:
        """Whether this is a second ending of a trial, as when it is given up at the moment at which it ends."""
        if event.kind not in ENDINGS or event.number is None:
            return False
        return self.optimizer.trial(event.number).state != "pending"


def _compare(optimizer: Optimizer, decision: Event) -> Difference | None:
    with making_sense(decision):  # of its memory, say
        choice = optimizer.next_point(within=decision.body["note"].get("within_seconds"))
    recorded = decision.body["params"]
    if choice.params == recorded and choice.memory == decision.body["memory"]:
        return None
    distance = np.abs(optimizer.space.to_unit(choice.params) - optimizer.space.to_unit(recorded)).max()
    return Difference(choice.number, recorded, choice.params, float(distance))
