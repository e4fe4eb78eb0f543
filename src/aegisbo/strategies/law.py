"""What is believed of values at some points: a mixture of normal laws, each on a scale of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import OutputScale

HALVINGS = 200  # of a bracket at most; then floats are used up
EXACT = 1e-13  # relative width of a bracket that is narrow enough
PLAUSIBLE = 1e-9  # weight of a law below which it takes no part in a bracket


@dataclass(frozen=True)
class Law:
    """What is believed of values at m points: a mixture of k laws, each normal on a scale of its own."""

    scales: Sequence[OutputScale]  # (k,)
    mean: Array  # (k, m)
    sd: Array  # (k, m)
    weight: Array  # (k, m)
    ceiling: float = np.inf  # as measured; what is believed to lie above it is told to lie there

    def below(self, level: Array | float) -> Array:
        """The chance (m,) that the value is below a level (or levels, (m,)), as measured."""
        levels = np.broadcast_to(np.asarray(level, dtype=float), self.mean.shape[1:])
        return np.asarray(np.where(levels == np.inf, 1.0, self._cdf(levels)))

    def quantiles(self, shares: Sequence[float]) -> Array:
        """The values (q, m), as measured, below which these shares of the law lie."""
        away = ndtri(np.asarray(shares))[:, None]
        ends = np.array([s.measured(m + away * sd) for s, m, sd in zip(self.scales, self.mean, self.sd, strict=True)])
        heard = self.weight[:, None, :] > PLAUSIBLE  # (k, 1, m)
        low = np.minimum(np.where(heard, ends, np.inf).min(axis=0), self.ceiling)  # (q, m)
        high = np.minimum(np.where(heard, ends, -np.inf).max(axis=0), self.ceiling)
        share = np.asarray(shares)[:, None]
        for _ in range(HALVINGS):
            if (0.5 * high - 0.5 * low <= EXACT * np.maximum(np.abs(low), np.abs(high))).all():
                break
            middle = 0.5 * low + 0.5 * high
            more = self._cdf(middle) < share
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(0.5 * low + 0.5 * high)

    def _cdf(self, levels: Array) -> Array:
        """The chance (..., m) to be below each level (..., m)."""
        total = np.zeros(levels.shape)
        for scale, mean, sd, weight in zip(self.scales, self.mean, self.sd, self.weight, strict=True):
            away, known = scale.standardized(levels) - mean, sd == 0.0
            total += weight * np.where(known, away > 0.0, ndtr(away / np.where(known, 1.0, sd)))
        return total


def normal_law(scale: OutputScale, mean: Array, sd: Array) -> Law:
    """The law of one model: means and standard deviations (m,) on its scale."""
    return Law([scale], mean[None], sd[None], np.ones((1, len(mean))))
