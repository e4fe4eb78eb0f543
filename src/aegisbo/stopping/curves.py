"""What evaluations have reported while they were running, as curves to be minimized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array


@dataclass(frozen=True)
class Curve:
    """The reports of one evaluation."""

    steps: Array  # (k,) growing; at least one
    values: Array  # (k,) to be minimized; infinite where none was finite
    end: float | None = None  # the value of the trial, if it has one

    def at(self, steps: Array) -> Array:  # (m,) -> (m,)
        """The values at these steps, between two reports on the line through them; NaN where there are none."""
        return np.asarray(np.interp(steps, self.steps, self.values, left=np.nan, right=np.nan))


@dataclass(frozen=True)
class Curves:
    """All curves of a run, by number of the trial."""

    of: Mapping[int, Curve]
    first: int  # the first trial that runs or has a value
    last_step: float | None  # at which evaluations end, as told, or as the longest one did that ended; None if unknown
