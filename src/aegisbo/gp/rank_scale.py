"""Outputs by their ranks: a scale on which noise that grows with the value, or is huge now and then, is even."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import STEEPEST, Scale, scale_of, sized


@dataclass(frozen=True)
class RankScale:
    """Each value measured becomes a normal number of its rank; in between and beyond, the scale is linear.

    How steep it is at a value, √k of k values on either side say: the steps from one value to the next are chance.
    """

    size: float  # largest absolute value
    levels: Array  # (k,) the different values, the lowest first, in units of `size`
    scores: Array  # (k,) where they lie on the scale

    @property
    def low_unit(self) -> float:
        """A standard deviation near the lowest values, as measured."""
        return float(np.exp(-self._log_slopes[0])) * self.size

    def standardized(self, y: Array) -> Array:
        return _along(y / self.size, self.levels, self.scores, np.exp(self._log_slopes))

    def measured(self, z: Array) -> Array:
        return sized(_along(z, self.scores, self.levels, np.exp(-self._log_slopes)), self.size)

    def log_slope(self, y: Array) -> Array:
        """log dz/dy (n,)."""
        return np.asarray(np.interp(y / self.size, self.levels, self._log_slopes) - np.log(self.size))

    @cached_property
    def _log_slopes(self) -> Array:  # (k,)
        rows, reach = np.arange(len(self.levels)), int(len(self.levels) ** 0.5)
        low, high = np.maximum(rows - reach, 0), np.minimum(rows + reach, len(rows) - 1)
        slopes = np.log(self.scores[high] - self.scores[low]) - np.log(self.levels[high] - self.levels[low])
        return np.asarray(np.clip(slopes, -STEEPEST, STEEPEST))


def rank_scale_of(y: Array) -> Scale | RankScale:
    """The scale of y (n,) by its ranks, or a plain one where all values are equal; equal values share their ranks."""
    size = float(np.abs(y).max()) or 1.0
    levels, which, counts = np.unique(y / size, return_inverse=True, return_counts=True)
    if len(levels) == 1:
        return scale_of(y)
    scores = ndtri((np.cumsum(counts) - 0.5 * counts) / len(y))
    return RankScale(size, levels, scale_of(scores[which]).standardized(scores))


def _along(x: Array, known: Array, meant: Array, slopes: Array) -> Array:
    """What x (m,) means on a line through known (k,), which mean (k,), and goes on beyond with the last slopes."""
    below, above = np.minimum(x - known[0], 0.0), np.maximum(x - known[-1], 0.0)
    with np.errstate(over="ignore"):  # of penalties, on a scale of good values
        return np.asarray(np.interp(x, known, meant) + below * slopes[0] + above * slopes[-1])
