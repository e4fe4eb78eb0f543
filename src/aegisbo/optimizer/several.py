"""What a run with several objectives has found: its front, and numbers and trials that sum it up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.number import as_finite
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.trial import Trial
from aegisbo.search.hypervolume import GrowingFront, hypervolume

ROOM = 0.1  # of the range of the front, by which the default reference lies beyond its worst values


@dataclass(frozen=True)
class Several:
    """The front of a run, and what its trials are compared by."""

    objectives: tuple[Objective, ...]
    front: tuple[Trial, ...] = ()  # sorted by the first objective
    # By number, of all trials that keep all limits: what they are compared by, in the order of the objectives, each to
    # be minimized. This is what was measured or, if values are noisy, the posterior means.
    losses: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    @property
    def extremes(self) -> dict[str, Trial]:
        """The best trial of the front in each objective, by name of the objective."""
        if not self.front:
            return {}
        rows = self._of_front.argmin(axis=0)
        return {each.name: self.front[row] for each, row in zip(self.objectives, rows, strict=True)}

    @property
    def compromise(self) -> Trial | None:
        """The trial of the front that lies nearest to the ideal point, each objective scaled by its range there."""
        if not self.front:
            return None
        F = self._of_front
        ranges = np.ptp(F, axis=0)
        away = (F - F.min(axis=0)) / np.where(ranges > 0.0, ranges, 1.0)  # (k, m)
        return self.front[int((away**2).sum(axis=1).argmin())]

    @property
    def reference(self) -> dict[str, float] | None:
        """A tenth of the front's range beyond its worst values, by name of the objective; None without a front.

        Where the front has no range, that of all trials counts, and 1 if they have none either.
        """
        if not self.front:
            return None
        F, everything = self._of_front, np.array([*self.losses.values()])
        ranges = np.ptp(F, axis=0)
        ranges = np.where(ranges > 0.0, ranges, np.ptp(everything, axis=0))
        beyond = F.max(axis=0) + ROOM * np.where(ranges > 0.0, ranges, 1.0)
        return {each.name: float(v) for each, v in zip(self.objectives, self._turned(beyond), strict=True)}

    @property
    def final(self) -> float:
        """The hypervolume of the front up to the default reference."""
        return 0.0 if self.reference is None else hypervolume(self._of_front, self._edge(self.reference))

    def hypervolume(self, ended: Iterable[Trial], reference: Mapping[str, float] | None = None) -> Array:
        """The hypervolume after each of these evaluations (n,), which are in the order of their ends.

        Raises:
            InvalidInput: the reference does not give a number for each objective.
        """
        given = self.reference if reference is None else reference
        numbers = [trial.number for trial in ended]
        if given is None:
            return np.zeros(len(numbers))
        edge = self._edge(given)
        known = [loss for number, loss in self.losses.items() if number < 0]
        front = GrowingFront(edge, np.array(known).reshape(-1, len(self.objectives)))
        return np.array([front.add(np.array(self.losses.get(number, edge))) for number in numbers])

    def _edge(self, reference: Any) -> Array:  # (m,)
        """The numbers of a reference, each to be minimized."""
        names = [each.name for each in self.objectives]
        example = "{" + ", ".join(f"{name!r}: ..." for name in names) + "}"
        if not isinstance(reference, Mapping) or set(reference) != set(names):
            raise InvalidInput(f"The reference must give a number for each objective, {example}; got {reference!r}.")
        numbers = [as_finite(reference[name]) for name in names]
        for name, number in zip(names, numbers, strict=True):
            if number is None:
                raise InvalidInput(f"The reference has {name} = {reference[name]!r}: give a finite number.")
        return self._turned(np.array(numbers, dtype=np.float64))

    @property
    def _of_front(self) -> Array:  # (k, m)
        return np.array([self.losses[trial.number] for trial in self.front])

    def _turned(self, values: Array) -> Array:
        return Direction(False, self.objectives).turned(values)
