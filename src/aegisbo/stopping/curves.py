"""What evaluations have reported while they were running, and what that teaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

from aegisbo.stopping.curve import Curve
from aegisbo.stopping.end_model import EndModel


@dataclass(frozen=True)
class Curves:
    """All curves of a run, by number of the trial."""

    of: Mapping[int, Curve]
    first: int  # the first trial that runs or has a value
    last_step: float | None  # at which evaluations end, as told, or as the longest one did that ended; None if unknown
    measured: float = inf  # the best value, also of evaluations that have reported nothing
    learned: EndModel | None = None  # from those with a value, if that was done before

    @cached_property
    def model(self) -> EndModel:
        """What those with a value teach about the ends of the others."""
        return self.learned or EndModel([self.of[number] for number in sorted(self.of) if self._has_ended(number)])

    @cached_property
    def best(self) -> float:
        """The best value so far."""
        return min([self.measured, *(curve.end for curve in self.of.values() if curve.end is not None)])

    def _has_ended(self, number: int) -> bool:
        end = self.of[number].end
        return end is not None and isfinite(end)
