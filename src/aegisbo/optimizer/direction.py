"""Minimize or maximize: the one place that changes a sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aegisbo.arrays import Array

Values = TypeVar("Values", float, Array)


@dataclass(frozen=True)
class Direction:
    """Which values the user calls good; everything below the user is minimized."""

    maximize: bool

    def turned(self, value: Values) -> Values:
        """From what the user measures to what is minimized, or back."""
        return -value if self.maximize else value

    def turned_note(self, note: Mapping[str, Any]) -> dict[str, Any]:
        """A strategy's note with the mean it predicts as the user would measure it."""
        return {**note, "mean": self.turned(note["mean"])} if "mean" in note else dict(note)

    def reaches(self, value: float, target: float) -> bool:
        """Whether a value is as good as the target; NaN never is."""
        return self.turned(value) <= self.turned(target)
