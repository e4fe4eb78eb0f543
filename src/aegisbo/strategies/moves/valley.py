"""The valley of the best point: how wide it is, and whether its bottom is known."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, pi

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.gp.output_transform import without_penalties
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.memory import Remembered

KNOWN = 1e-7  # the bottom of a valley is known if less than this can be gained there, in units of the first values
SIGMA = 4.0  # of the critical distance: above 4 the number of descents stays finite (Rinnooy Kan and Timmer)


@dataclass(frozen=True)
class Valley(Remembered):
    """What a local model has seen of it."""

    bottom: float  # the lowest value that was predicted there

    def is_known(self, evidence: Evidence) -> bool:
        """Whether the best value is at the bottom, and no failures cut it off."""
        left = abs(float(evidence.y.min()) - float(self.bottom))
        return left < KNOWN * early_unit(evidence) and not in_valley(evidence.failed, evidence).any()


def early_unit(evidence: Evidence) -> float:
    """By how much the first values that are no penalties differ, below their median."""
    early = without_penalties(evidence.y)[: 2 * evidence.cube.parameters]
    with np.errstate(over="ignore"):
        return float(np.median(early) - early.min())


def in_valley(X: Array, evidence: Evidence) -> Mask:
    """Which of X (m, d) are so near to the best point that a descent from there would end in the same valley (m,)."""
    best = evidence.X[evidence.y.argmin()]
    return np.asarray(np.linalg.norm(X - best, axis=1) < critical_distance(*evidence.X.shape) / 2)


def critical_distance(n: int, d: int) -> float:
    """How far apart the starts of descents are, with n points in the unit cube of d dimensions."""
    log_volume = lgamma(1.0 + d / 2) + log(SIGMA * log(n) / n)
    return float(exp(log_volume / d) / pi**0.5)
