"""Minimize or maximize: the one place that changes a sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aegisbo.arrays import Array
from aegisbo.number import as_number

Values = TypeVar("Values", float, Array)


@dataclass(frozen=True)
class Direction:
    """Which values the user calls good; everything below the user is minimized."""

    maximize: bool

    def turned(self, value: Values) -> Values:
        """From what the user measures to what is minimized, or back."""
        return -value if self.maximize else value

    def turned_note(self, note: Mapping[str, Any]) -> dict[str, Any]:
        """A strategy's note with the mean it predicts, if it has one, as the user would measure it."""
        mean = as_number(note.get("mean"))  # a foreign strategy may call something else so
        return dict(note) if mean is None else {**note, "mean": self.turned(mean)}

    def reaches(self, value: float, target: float) -> bool:
        """Whether a value is as good as the target; NaN never is."""
        return self.turned(value) <= self.turned(target)
