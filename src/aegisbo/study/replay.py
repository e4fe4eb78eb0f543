"""Replay: every decision of a run made again, from what was known when it was made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo.optimizer.optimizer import ADDED
from aegisbo.space import Space
from aegisbo.space.constraints import Constraint
from aegisbo.study.history import RESULTS, History
from aegisbo.study.store import Event, read_events
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
    space = Space.from_description(created.body["optimizer"]["space"]).given(constraints)
    history = History(created, space=space)
    asked = [event for event in events if event.kind == "asked"]
    results = [event for event in events if event.kind in RESULTS]
    added = [event for event in events if event.kind == "added"]  # known to a choice if it is the one that took it
    differences = []
    for done, decision in enumerate(asked, start=1):
        while results and results[0].id <= decision.body["seen"]:
            history.add(results.pop(0))
        if decision.body["note"].get("move") == ADDED and added:
            history.add(added.pop(0))
        difference = _compare(history, decision)
        if difference is not None:
            differences.append(difference)
        history.add(decision)  # whatever came out: the next decision was made after the recorded one
        tick(done, len(asked))
    then, now = created.body["build"], build()
    rebuilt = {key: (then[key], now[key]) for key in now if then.get(key) != now[key]}
    return Replay(len(asked), tuple(differences), rebuilt)


def _compare(history: History, decision: Event) -> Difference | None:
    optimizer = history.optimizer()
    trial = optimizer.ask(within=decision.body["note"].get("within_seconds"))
    recorded = decision.body["params"]
    if trial.params == recorded and optimizer.memory == decision.body["memory"]:
        return None
    distance = np.abs(optimizer.space.to_unit(trial.params) - optimizer.space.to_unit(recorded)).max()
    return Difference(trial.number, recorded, trial.params, float(distance))
