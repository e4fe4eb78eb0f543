"""Outputs transformed to mean 0 and variance 1, whatever their size, and if wanted with a soft upper half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aegisbo.arrays import Array

FLOOR = 0.3
FAR = 8.0  # on the logarithmic tail: 3,000 units above the threshold
LARGEST = 1e300  # units above the threshold that still make a difference
STEEPEST = 700.0  # log of a slope beyond which nothing is computed
LOUDEST = 1e100  # standard deviation beyond which nothing is computed
PENALTY = 1e6  # a value this many times farther above the others than they differ is a penalty for "bad"


class OutputScale(Protocol):
    """A rising map between measured and standardized values."""

    @property
    def low_unit(self) -> float:
        """A standard deviation near the lowest values, as measured."""

    def standardized(self, y: Array) -> Array:
        """Measured values (n,) on the scale."""

    def measured(self, z: Array) -> Array:
        """The values (n,), as measured, that lie there on the scale."""

    def log_slope(self, y: Array) -> Array:
        """log dz/dy (n,): turns the density of z into that of y."""


@dataclass(frozen=True)
class Scale:
    """The affine map between measured and standardized values.

    Values are divided by the largest first, so that squares of 1e200 do not overflow and squares of 1e-200 do not
    become 0.
    """

    size: float  # largest absolute value
    center: float  # mean in units of `size`
    spread: float  # unbiased standard deviation in units of `size`

    @property
    def low_unit(self) -> float:
        """A standard deviation near the lowest values, as measured."""
        return self.spread * self.size

    def standardized(self, y: Array) -> Array:
        with np.errstate(over="ignore"):  # of penalties, on a scale of good values
            return np.asarray((y / self.size - self.center) / self.spread)

    def measured(self, z: Array) -> Array:
        return sized(z * self.spread + self.center, self.size)

    def log_slope(self, y: Array) -> Array:
        """log dz/dy (n,): turns the density of z into that of y."""
        return np.full(len(y), -np.log(self.spread) - np.log(self.size))


def scale_of(y: Array) -> Scale:
    """The scale on which y (n,) has mean 0 and variance 1; a spread of 1 where all values are equal."""
    size = float(np.abs(y).max()) or 1.0
    scaled = y / size  # equal values become exactly 1, -1 or 0
    spread = float(scaled.std(ddof=1)) if len(y) > 1 else 0.0
    return Scale(size, float(scaled.mean()), spread or 1.0)


@dataclass(frozen=True)
class SoftScale:
    """Values above a threshold on a logarithmic tail, then standardized.

    A search for the minimum need not know how bad the bad half is, and a few huge values would set the scale for all.
    Penalties such as 1e30 would do so even on that tail: far out it is logarithmic once more.
    """

    size: float  # largest absolute value
    threshold: float  # where the tail begins, in units of `size`
    unit: float  # from the lowest value to the threshold, in units of `size`
    scale: Scale  # of the softened values

    @property
    def low_unit(self) -> float:
        """A standard deviation near the lowest values, as measured."""
        return self.scale.low_unit * self.unit * self.size

    def standardized(self, y: Array) -> Array:
        return self.scale.standardized(_softened(y / self.size, self.threshold, self.unit))

    def log_slope(self, y: Array) -> Array:
        """log dz/dy (n,)."""
        tail = _tail(_units_above(y / self.size, self.threshold, self.unit))
        of_tail = -tail - np.log1p(np.maximum(tail - FAR, 0.0))
        return np.asarray(self.scale.log_slope(y) + of_tail - np.log(self.unit) - np.log(self.size))

    def measured(self, z: Array) -> Array:
        soft = self.scale.measured(z)
        tail = np.where(soft > FAR, FAR + np.expm1(np.clip(soft - FAR, 0.0, 7.0)), soft)
        hard = np.where(tail > 0.0, np.expm1(np.clip(tail, 0.0, 700.0)), tail) * self.unit + self.threshold
        return sized(hard, self.size)


def soft_scale_of(y: Array, share: float = 0.5, early: int = 0) -> Scale | SoftScale:
    """The soft scale of y (n,), or a plain one where all values below its tail are equal.

    Args:
        y: the values, in the order in which they were asked for.
        share: of the values that lie below the tail.
        early: how many first values set a lower bound on the unit: it is at least `FLOOR` of what it was for them, so
            that it does not shrink away as values gather near the lowest one.
    """
    size = float(np.abs(y).max()) or 1.0
    scaled = y / size
    threshold = _quantile(scaled, share)
    unit = threshold - float(scaled.min())
    if early:
        first = without_penalties(scaled)[:early]
        unit = max(unit, FLOOR * (_quantile(first, share) - float(first.min())))
    if unit <= 0.0:
        return scale_of(y)
    return SoftScale(size, threshold, unit, scale_of(_softened(scaled, threshold, unit)))


def noise_on(scale: OutputScale, sd: Array, y: Array) -> Array:
    """The variances (n,) on a scale of values y (n,) with these standard deviations, none beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(sd * np.exp(np.minimum(scale.log_slope(y), STEEPEST)), LOUDEST) ** 2)


def without_penalties(y: Array) -> Array:
    """The values (m,) of y (n,) that are no penalties such as 1e30, in their order."""
    levels = np.unique(y)
    while len(levels) > 2:
        with np.errstate(over="ignore"):
            if levels[-1] - levels[-2] <= PENALTY * (levels[-2] - levels[0]):
                break
        levels = levels[:-1]
    return np.asarray(y[y <= levels[-1]])


def _quantile(y: Array, share: float) -> float:
    return float(np.median(y) if share == 0.5 else np.quantile(y, share))  # they differ in the last digit


def _softened(scaled: Array, threshold: float, unit: float) -> Array:
    z = _units_above(scaled, threshold, unit)
    tail = _tail(z)
    far = np.where(tail > FAR, FAR + np.log1p(np.maximum(tail - FAR, 0.0)), tail)
    return np.where(z > 0.0, far, z)


def _units_above(scaled: Array, threshold: float, unit: float) -> Array:
    with np.errstate(over="ignore"):  # beyond the largest float
        return np.asarray(np.minimum((scaled - threshold) / unit, LARGEST))


def _tail(z: Array) -> Array:
    """The logarithmic tail, 0 below the threshold."""
    return np.log1p(np.maximum(z, 0.0))


def sized(relative: Array, size: float) -> Array:
    """In the user's units, at most the largest float."""
    largest = np.finfo(np.float64).max / max(size, 1.0)
    return np.asarray(np.clip(relative, -largest, largest) * size)
