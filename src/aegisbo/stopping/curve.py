"""What one evaluation has reported while it was running, as a curve to be minimized."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aegisbo.arrays import Array

NOWHERE = np.empty(0)


@dataclass(frozen=True, eq=False)
class Curve:
    """The reports of one evaluation."""

    steps: Array  # (k,) growing; at least one
    values: Array  # (k,) to be minimized; infinite where none was finite
    end: float | None = None  # the value of the trial, if it has one
    runs: bool = False  # whether it has not ended
    point: Array = field(default_factory=lambda: NOWHERE)  # (width,) where it lies in the unit cube
    seconds: float | None = None  # since the function was called, at the last report or the end; None if unknown

    def at(self, steps: Array) -> Array:  # (m,) -> (m,)
        """The values at these steps, between two reports on the line through them; NaN where there are none."""
        return np.asarray(np.interp(steps, self.steps, self.values, left=np.nan, right=np.nan))
