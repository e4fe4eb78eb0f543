"""Where an evaluation will end: learned from those that ended, as they stood at the same step.

On a soft scale of values, on which it hardly matters how bad a bad value is, the way from the last value to the end is
a Gaussian process: linear in the value and in what has changed since half the steps, with a smooth rest over the two,
and another one over the parameters. The noise may grow with what has changed. How large each part is, relative to the
noise, is chosen by the likelihood from a few values; the noise itself is integrated out, which leaves Student's t: few
ends give a wide band. Was the model wrong lately, each end predicted from those before it, the band is wider: a run
that goes to new places learns from old ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import floor, log10
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.linalg import Factor, factorize
from aegisbo.gp.output_transform import OutputScale, soft_scale_of
from aegisbo.stopping.curve import Curve

LEAST = 3  # ends to learn from
MOST = 100  # the latest
LINEAR_SHARE = 1 / 3  # of the ends, the lowest, among which differences count in full
LATELY = np.array([0.85, 0.9, 0.95, 1.0])  # of the steps, over which a value is averaged: reports may be noisy
NEAR = 0.27  # length scale over the parameters, of one coordinate
ALIKE = 0.7  # length scale over value and change
LEVEL, SLOPES = 30.0, 3.0  # variances of the mean way and of its slopes, relative to the noise
PLACES, SHAPES, GROWING = (0.0, 1.0, 10.0), (0.0, 3.0), (0.0, 10.0)  # of the rests; how the noise grows
NOISE, ITS_WEIGHT = 0.3, 1.0  # on the soft scale, before anything is known, and how many ends it counts for
MARGIN = 2.0  # on the soft scale: what is so much worse than the worst end counts as no worse
FORGOTTEN = 10.0  # ends after which it counts half how far off the model was


class EndForecast(NamedTuple):
    """Where an evaluation will end: Student's t on a soft scale, to be minimized."""

    mean: float  # the median, as the scale is not linear
    sd: float  # half the way between the values one standard deviation above and below on the soft scale
    scale: OutputScale
    center: float  # on the soft scale
    spread: float
    freedom: float  # degrees of freedom, above 2

    def below(self, value: float) -> float:
        """The chance that it ends below a value."""
        return float(stdtr(self.freedom, self._beyond(value)))

    def gain(self, best: float) -> float:
        """By how much it is expected to end below the best, on the soft scale, which is linear there."""
        u, nu = self._beyond(best), self.freedom
        log_density = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
        density = np.exp(log_density - (nu + 1) / 2 * np.log1p(u * u / nu))
        return float(self.spread * (u * stdtr(nu, u) + (nu + u * u) / (nu - 1) * density))

    def _beyond(self, value: float) -> float:
        return (float(self.scale.standardized(np.array([value]))[0]) - self.center) / self.spread


class EndModel:
    """What the ends of some evaluations teach. Each step has a model of its own, which is fitted when it is needed."""

    def __init__(self, ended: Sequence[Curve]) -> None:
        self.ended = tuple(ended)
        self._at: dict[float, _AtStep | None] = {}
        self._forecasts: dict[Curve, EndForecast | None] = {}

    @property
    def enough(self) -> bool:
        """Whether enough have ended to learn from."""
        return len(self.ended) >= LEAST

    @cached_property
    def scale(self) -> OutputScale:
        """Of the values."""
        return soft_scale_of(_ends(self.ended[-MOST:]), LINEAR_SHARE)

    def forecasts(self, curves: Iterable[Curve]) -> list[EndForecast | None]:
        """Where curves will end; None where one has diverged, or too few that ended have reported at its step."""
        return [self._forecast(curve) for curve in curves]

    def _forecast(self, curve: Curve) -> EndForecast | None:
        # One by one: the last digits of a product of matrices depend on how many columns it has, and a replay asks
        # for other curves at a time than the run did.
        if curve not in self._forecasts:
            can = self.enough and bool(np.isfinite(curve.values[-1]))
            model = self._model(_rounded(float(curve.steps[-1]))) if can else None
            self._forecasts[curve] = None if model is None else model.forecast(curve)
        return self._forecasts[curve]

    def _model(self, step: float) -> _AtStep | None:
        if step not in self._at:
            there = [each for each in self.ended[-MOST:] if each.steps[0] <= step]
            self._at[step] = _fitted(self.scale, there, step) if len(there) >= LEAST else None
        return self._at[step]


def _ends(ended: Iterable[Curve]) -> Array:
    return np.array([curve.end for curve in ended], dtype=np.float64)


def _rounded(step: float) -> float:
    """A step with two digits, rounded down: models of many steps need not be fitted again for each evaluation."""
    if step <= 0.0:
        return step
    unit: float = 10.0 ** (floor(log10(step)) - 1)
    return min(floor(step / unit + 1e-9) * unit, step)


@dataclass(frozen=True)
class _Stand:
    """How evaluations stood at a step."""

    shapes: Array  # (n, 2) the value on the soft scale, and the change since half the steps
    points: Array  # (n, width)

    def covariance(self, other: _Stand) -> tuple[Array, Array, Array]:  # each (n, m)
        """The parts of the covariance of ways: of their linear part, and of the rests over places and shapes."""
        near = Matern52(np.array([NEAR * max(self.points.shape[1], 1) ** 0.5]), 1.0)
        linear = LEVEL + SLOPES * (self.shapes @ other.shapes.T)
        alike = Matern52(np.array([ALIKE]), 1.0)(self.shapes, other.shapes)
        return linear, near(self.points, other.points), alike


@dataclass(frozen=True)
class _AtStep:
    """The posterior of the ways from one step to the end."""

    scale: OutputScale
    step: float
    worst: float  # value beyond which all are equally bad
    middle: float  # of the soft values
    stand: _Stand  # of those that ended
    parts: tuple[float, float, float]  # variances over places and shapes, relative to the noise, and how that grows
    factor: Factor
    whitened: Array  # (n,)
    noise: float  # its variance
    freedom: float

    def forecast(self, curve: Curve) -> EndForecast:
        stand = _stand(self.scale, [curve], self.step, self.worst, self.middle)
        seen = self.factor.whiten(_summed(self.stand.covariance(stand), self.parts))[:, 0]  # (n,)
        own = LEVEL + SLOPES * (stand.shapes**2).sum() + sum(self.parts[:2]) + _growth(stand, self.parts)[0]
        center = float(self.middle + stand.shapes[0, 0] + self.whitened @ seen)
        spread = float(np.sqrt(max(own - seen @ seen, 1e-12) * self.noise))
        sd = spread * (self.freedom / (self.freedom - 2.0)) ** 0.5
        low, mean, high = self.scale.measured(center + sd * np.array([-1.0, 0.0, 1.0])).tolist()
        return EndForecast(mean, 0.5 * high - 0.5 * low, self.scale, center, spread, self.freedom)


def _fitted(scale: OutputScale, ended: Sequence[Curve], step: float) -> _AtStep:
    ends, n = scale.standardized(_ends(ended)), len(ended)
    worst = float(scale.measured(ends.max(keepdims=True) + MARGIN)[0])
    middle = float(np.median(_stand(scale, ended, step, worst, 0.0).shapes[:, 0]))
    stand = _stand(scale, ended, step, worst, middle)
    ways, covariances, most = ends - middle - stand.shapes[:, 0], stand.covariance(stand), -np.inf
    for parts in product(PLACES, SHAPES, GROWING):
        factor = factorize(_summed(covariances, parts) + np.diag(_growth(stand, parts)))
        whitened = factor.whiten(ways)
        squares = float(ITS_WEIGHT * NOISE**2 + whitened @ whitened)
        likely = -np.log(np.diagonal(factor.L)).sum() - 0.5 * (ITS_WEIGHT + n) * np.log(squares)
        if likely > most:
            most, chosen = likely, (parts, factor, whitened, squares / (ITS_WEIGHT + n))
    parts, factor, whitened, noise = chosen
    weights = 0.5 ** (np.arange(n)[::-1] / FORGOTTEN)  # each of `whitened` is how far off the end was from those before
    freedom = ITS_WEIGHT + float(weights.sum())
    lately = float(ITS_WEIGHT * NOISE**2 + weights @ whitened**2) / freedom
    return _AtStep(scale, step, worst, middle, stand, parts, factor, whitened, max(noise, lately), freedom)


def _stand(scale: OutputScale, curves: Sequence[Curve], step: float, worst: float, middle: float) -> _Stand:
    at = np.concatenate([step * LATELY, 0.5 * step * LATELY])
    values = np.array([np.interp(at, curve.steps, np.minimum(curve.values, worst)) for curve in curves])
    soft = scale.standardized(values)  # (n, 2 k)
    now, before = soft[:, : len(LATELY)].mean(axis=1), soft[:, len(LATELY) :].mean(axis=1)
    return _Stand(np.column_stack([now - middle, now - before]), np.array([curve.point for curve in curves]))


def _summed(covariances: tuple[Array, Array, Array], parts: tuple[float, float, float]) -> Array:
    linear, places, shapes = covariances
    return np.asarray(linear + parts[0] * places + parts[1] * shapes)


def _growth(stand: _Stand, parts: tuple[float, float, float]) -> Array:  # (n,)
    """The variance of the noise, relative to that of evaluations which do not change."""
    return np.asarray(1.0 + parts[2] * stand.shapes[:, 1] ** 2)
