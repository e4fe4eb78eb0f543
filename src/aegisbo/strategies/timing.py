"""What a strategy is told about time: how long evaluations took, and why that matters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.strategies.durations import Durations, learned

PROBABLY = 0.8  # the chance to end in time that a point must have: by experiment, docs/experiments/durations.md


@dataclass(frozen=True)
class Timing:
    """How long evaluations took, and why that matters now."""

    X: Array  # (k, width) points whose evaluation kept its worker busy to the end
    seconds: Array  # (k,) for how long
    costly: bool = False  # whether time is what evaluations cost
    limit: float | None = None  # seconds that are left for the next one

    @cached_property
    def durations(self) -> Durations | None:
        """How long evaluations take; None if no time is known."""
        return learned(self.X, self.seconds) if len(self.seconds) else None

    def fits(self, Z: Array) -> Mask:  # (m, width) -> (m,)
        """Which evaluations would probably end in time; all of them if nothing is known, or there is no hurry."""
        if self.limit is None or self.durations is None:
            return np.full(len(Z), True)
        return np.asarray(self.durations.quantile(Z, PROBABLY) <= self.limit)

    def note(self, x: Array) -> dict[str, float]:
        """How long the evaluation of x (width,) is expected to take, as likely to be exceeded as not."""
        return (
            {}
            if self.durations is None
            else {"expected_seconds": float(self.durations.quantile(np.atleast_2d(x), 0.5)[0])}
        )

    @property
    def price(self) -> Durations | None:
        """How long evaluations take, if time is what they cost and some are expected to take longer than others."""
        durations = self.durations if self.costly else None
        return durations if durations is not None and durations.informed else None
