"""What a strategy is told about time: how long evaluations took, and why that matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.paces import UNKNOWN, at_workers, learned_together

PROBABLY = 0.8  # the chance to end in time that a point must have: by experiment, docs/experiments/durations.md


@dataclass(frozen=True)
class Timing:
    """How long evaluations took, and why that matters now."""

    X: Array  # (k, width) points whose evaluation kept its worker busy to the end
    seconds: Array  # (k,) for how long
    workers: Array | None = None  # (k,) which one; None if nobody knows
    costly: bool = False  # whether time is what evaluations cost
    limit: float | None = None  # seconds on a typical worker that are left for the next one

    @cached_property
    def _learned(self) -> tuple[Durations | None, Mapping[int, float]]:
        if not len(self.seconds):
            return None, {}
        unknown = np.full(len(self.seconds), UNKNOWN)
        return learned_together(self.X, self.seconds, unknown if self.workers is None else self.workers)

    @property
    def durations(self) -> Durations | None:
        """How long evaluations take on a typical worker; None if no time is known."""
        return self._learned[0]

    @property
    def paces(self) -> Mapping[int, float]:
        """How many times as long they take on each worker, where workers clearly differ; else none."""
        return self._learned[1]

    @property
    def typical(self) -> Array:
        """The seconds (k,) as they would have been on a typical worker."""
        return self.seconds if self.workers is None else self.seconds / at_workers(self.paces, self.workers)

    def fits(self, Z: Array) -> Mask:  # (m, width) -> (m,)
        """Which evaluations would probably end in time; all of them if nothing is known, or there is no hurry."""
        if self.limit is None or self.durations is None:
            return np.full(len(Z), True)
        return np.asarray(self.durations.quantile(Z, PROBABLY) <= self.limit)

    def note(self, x: Array) -> dict[str, float]:
        """How long x (width,) is expected to take on a typical worker, as likely to be exceeded as not."""
        if self.durations is None:
            return {}
        return {"expected_seconds": float(self.durations.quantile(np.atleast_2d(x), 0.5)[0])}

    @property
    def price(self) -> Durations | None:
        """How long evaluations take, if time is what they cost and some are expected to take longer than others."""
        durations = self.durations if self.costly else None
        return durations if durations is not None and durations.informed else None
