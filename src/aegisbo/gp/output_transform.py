"""Outputs transformed to mean 0 and variance 1, whatever their size, and if wanted with a soft upper half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array


@dataclass(frozen=True)
class Scale:
    """The affine map between measured and standardized values.

    Values are divided by the largest first, so that squares of 1e200 do not overflow and squares of 1e-200 do not
    become 0.
    """

    size: float  # largest absolute value
    center: float  # mean in units of `size`
    spread: float  # unbiased standard deviation in units of `size`

    def standardized(self, y: Array) -> Array:
        return np.asarray((y / self.size - self.center) / self.spread)

    def measured(self, z: Array) -> Array:
        return _sized(z * self.spread + self.center, self.size)


def scale_of(y: Array) -> Scale:
    """The scale on which y (n,) has mean 0 and variance 1; a spread of 1 where all values are equal."""
    size = float(np.abs(y).max()) or 1.0
    scaled = y / size  # equal values become exactly 1, -1 or 0
    spread = float(scaled.std(ddof=1)) if len(y) > 1 else 0.0
    return Scale(size, float(scaled.mean()), spread or 1.0)


@dataclass(frozen=True)
class SoftScale:
    """Values above the median on a logarithmic tail, then standardized.

    A search for the minimum need not know how bad the bad half is, and a few huge values would set the scale for all.
    """

    size: float  # largest absolute value
    median: float  # in units of `size`
    unit: float  # from the lowest value to the median, in units of `size`
    scale: Scale  # of the softened values

    def standardized(self, y: Array) -> Array:
        return self.scale.standardized(_softened(y / self.size, self.median, self.unit))

    def measured(self, z: Array) -> Array:
        soft = self.scale.measured(z)
        hard = np.where(soft > 0.0, np.expm1(np.clip(soft, 0.0, 700.0)), soft) * self.unit + self.median
        return _sized(hard, self.size)


def soft_scale_of(y: Array) -> Scale | SoftScale:
    """The soft scale of y (n,); a plain one where half of the values or more are the lowest: there is no lower half."""
    size = float(np.abs(y).max()) or 1.0
    scaled = y / size
    median = float(np.median(scaled))
    unit = median - float(scaled.min())
    if unit <= 0.0:
        return scale_of(y)
    return SoftScale(size, median, unit, scale_of(_softened(scaled, median, unit)))


def _softened(scaled: Array, median: float, unit: float) -> Array:
    z = (scaled - median) / unit
    return np.where(z > 0.0, np.log1p(np.maximum(z, 0.0)), z)


def _sized(relative: Array, size: float) -> Array:
    """In the user's units, at most the largest number that there is."""
    largest = np.finfo(np.float64).max / max(size, 1.0)
    return np.asarray(np.clip(relative, -largest, largest) * size)
