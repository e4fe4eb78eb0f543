"""Outputs rescaled to mean 0 and variance 1, whatever their size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array


@dataclass(frozen=True)
class Scale:
    """The affine map between measured and standardised values.

    Values are divided by the largest first, so that squares of 1e200 do not overflow and those of 1e-200 not vanish.
    """

    size: float  # largest absolute value
    centre: float  # mean in units of `size`
    spread: float  # unbiased standard deviation in units of `size`

    def standardised(self, y: Array) -> Array:
        return np.asarray((y / self.size - self.centre) / self.spread)

    def measured(self, z: Array) -> Array:
        return self._sized(z * self.spread + self.centre)

    def measured_std(self, sigma: Array) -> Array:
        return self._sized(sigma * self.spread)

    def _sized(self, relative: Array) -> Array:
        """In the user's units, at most the largest number that there is."""
        largest = np.finfo(np.float64).max / max(self.size, 1.0)
        return np.asarray(np.clip(relative, -largest, largest) * self.size)


def scale_of(y: Array) -> Scale:
    """The scale on which y (n,) has mean 0 and variance 1; a spread of 1 where all values are equal."""
    size = float(np.abs(y).max()) or 1.0
    scaled = y / size  # equal values become exactly 1, -1 or 0
    spread = float(scaled.std(ddof=1)) if len(y) > 1 else 0.0
    return Scale(size, float(scaled.mean()), spread or 1.0)


def standardise(y: Array) -> Array:
    """(y − mean) / std with the unbiased standard deviation; zeros where all values are equal."""
    return scale_of(y).standardised(y)
