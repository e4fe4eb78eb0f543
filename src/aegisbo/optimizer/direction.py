"""Minimize or maximize: the one place that changes a sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from aegisbo.arrays import Array
from aegisbo.number import as_number
from aegisbo.optimizer.objectives import Objective

Values = TypeVar("Values", float, Array)


@dataclass(frozen=True)
class Direction:
    """Which values are good to the user; internally everything is minimized."""

    maximize: bool
    objectives: tuple[Objective, ...] = ()  # if there are several, each with its own direction

    def turned(self, value: Values) -> Values:  # (), (n,); of m objectives (..., m)
        """Convert the user's values to minimized ones, or back."""
        if self.objectives:
            return cast("Values", value * np.array([-1.0 if each.maximize else 1.0 for each in self.objectives]))
        return -value if self.maximize else value

    def turned_note(self, note: Mapping[str, Any]) -> dict[str, Any]:
        """A strategy's note with the mean it predicts, if it has one, as the user would measure it.

        With several objectives, means and standard deviations are given by name.
        """
        if self.objectives:
            told = {name: self._by_name(note[name], turn=name == "mean") for name in ("mean", "std") if name in note}
            return {**note, **told}
        mean = as_number(note.get("mean"))  # another package's strategy may use this name for something else
        return dict(note) if mean is None else {**note, "mean": self.turned(mean)}

    def _by_name(self, numbers: Any, *, turn: bool) -> Any:
        """Numbers in the order of the objectives, by name; anything else as it is."""
        if not isinstance(numbers, list) or [as_number(each) is None for each in numbers] != [False] * self.several:
            return numbers
        values = self.turned(np.array(numbers, dtype=np.float64)).tolist() if turn else numbers
        return {each.name: value for each, value in zip(self.objectives, values, strict=True)}

    @property
    def several(self) -> int:
        """How many objectives there are; 0 if there is one number."""
        return len(self.objectives)

    def reaches(self, value: float, target: float) -> bool:
        """Whether a value is as good as the target; NaN never is."""
        return self.turned(value) <= self.turned(target)
