"""How much volume a point is expected to add to a front, in logarithms.

Everything is minimized. What a front leaves undominated is cut into boxes with corners l and u; with independent
objectives, expected improvement is a sum over boxes of products over objectives (Yang et al., 2019),

    EHVI = Σ_b ∏_j [ r_j(u_bj) − r_j(l_bj) ],   r_j(t) = E max(t − f_j, 0).

In logarithms it never vanishes, however little is promised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from aegisbo.arrays import Array, Index
from aegisbo.gp.posterior import GP
from aegisbo.search.hypervolume import Boxes
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.log_expected_improvement import log_expected_improvement
from aegisbo.strategies.per_second import log_soft

SOFTNESS = 1e-2  # how far above a corner a certain value may still hope, in standard deviations of the (soft) outputs


class Slope(NamedTuple):
    """How log r changes with a quantity, such as a mean, and that quantity with the point."""

    of_log_r: Array  # (n, k)
    gradient: Array  # (n, width)


class Believed(Protocol):
    """What is believed of one objective."""

    def log_r(self, Z: Array, corners: Array) -> Array:
        """log r (n, k) at Z (n, width) for corners (k,)."""

    def log_r_and_slopes(self, Z: Array, corners: Array) -> tuple[Array, tuple[Slope, ...]]:
        """The same, with the slopes whose sum is the gradient."""


@dataclass(frozen=True)
class Certain:
    """Values that are taken for exact: a mean, a sample path. Their r is softened, so that there is a way to go."""

    function: Acquisition

    def log_r(self, Z: Array, corners: Array) -> Array:
        return np.asarray(log_soft((corners - self.function.screen(Z)[:, None]) / SOFTNESS)[0] + np.log(SOFTNESS))

    def log_r_and_slopes(self, Z: Array, corners: Array) -> tuple[Array, tuple[Slope, ...]]:
        value, gradient = self.function.value_and_gradient(Z)
        log_r, slope = log_soft((corners - value[:, None]) / SOFTNESS)
        return log_r + np.log(SOFTNESS), (Slope(-slope / SOFTNESS, gradient),)


@dataclass(frozen=True)
class Uncertain:
    """Values as a posterior knows them."""

    gp: GP

    def log_r(self, Z: Array, corners: Array) -> Array:
        mu, var = self.gp.predict(Z)
        return log_expected_improvement(mu[:, None], var[:, None], corners)[0]

    def log_r_and_slopes(self, Z: Array, corners: Array) -> tuple[Array, tuple[Slope, ...]]:
        mu, var, of_mu, of_var = self.gp.predict_and_gradient(Z)
        log_r, by_mu, by_var = log_expected_improvement(mu[:, None], var[:, None], corners)
        return log_r, (Slope(by_mu, of_mu), Slope(by_var, of_var))


class Corners(NamedTuple):
    """The corners of all boxes along one objective, each once."""

    at: Array  # (k,)
    low: Index  # (b,) which of them each box begins at; -1 if it has no end there
    high: Index  # (b,) and ends at


@dataclass(frozen=True)
class FrontImprovement:
    """−log of the expected improvement of hypervolume."""

    believed: tuple[Believed, ...]  # of each objective
    boxes: Boxes  # that no point of the front dominates

    @cached_property
    def _corners(self) -> tuple[Corners, ...]:
        found = []
        for low, high in zip(self.boxes.lower.T, self.boxes.upper.T, strict=True):
            at, places = np.unique(np.concatenate([low[low > -np.inf], high]), return_inverse=True)
            where = np.full(len(low), -1)
            where[low > -np.inf] = places[: -len(high)]
            found.append(Corners(at, where, places[-len(high) :]))
        return tuple(found)

    def screen(self, Z: Array) -> Array:
        total = np.zeros((len(Z), len(self.boxes.upper)))
        for outlook, corners in zip(self.believed, self._corners, strict=True):
            total += _log_sides(outlook.log_r(Z, corners.at), corners)[0]
        return -_log_sum(total)

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        total, parts = np.zeros((len(Z), len(self.boxes.upper))), []  # (n, b)
        for outlook, corners in zip(self.believed, self._corners, strict=True):
            log_r, slopes = outlook.log_r_and_slopes(Z, corners.at)
            log_sides, ratio = _log_sides(log_r, corners)
            total += log_sides
            parts.append((corners, ratio, slopes))
        value = _log_sum(total)
        shares = np.exp(total - value[:, None])  # of each box
        gradient = np.zeros_like(Z)
        for corners, ratio, slopes in parts:
            of_high = shares / (1.0 - ratio)
            for of_log_r, of_quantity in slopes:
                change = of_high * of_log_r[:, corners.high] - of_high * ratio * of_log_r[:, corners.low]
                gradient += change.sum(axis=1)[:, None] * of_quantity
        return -value, -gradient


def _log_sum(logs: Array) -> Array:  # (n, b) -> (n,)
    """log Σ exp; SciPy's takes several times as long for so few numbers."""
    highest = logs.max(axis=1)
    return np.asarray(highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1)))


def _log_sides(log_r: Array, corners: Corners) -> tuple[Array, Array]:
    """log [r(u) − r(l)] (n, b) of all boxes, given log r (n, k); and r(l)/r(u), 0 where a box has no end."""
    high = log_r[:, corners.high]
    ratio = np.where(corners.low < 0, 0.0, np.exp(np.minimum(log_r[:, corners.low] - high, 0.0)))
    ratio = np.minimum(ratio, 1.0 - 1e-15)  # corners that differ in the last digit
    return high + np.log1p(-ratio), ratio
