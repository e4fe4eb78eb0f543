"""How long evaluations take: log seconds as a quadratic of the coordinates, learned by ridge regression.

Of three sets of terms (slopes; slopes and squares; slopes and all products) and of several strengths of the ridge, the
one is taken that predicts best what was left out. If none predicts clearly better than the mean of all does, every
point is expected to take equally long. A Gaussian process predicts better from about 80 points on, and takes fifty to a
hundred times as long (docs/experiments/durations.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import Array
from aegisbo.gp.thinning import evenly_spread

SHORTEST = 1e-3  # seconds; what takes less differs by chance only
EVEN = 0.05  # a standard deviation of log seconds below which all evaluations take equally long
FEWEST = 5  # times from which more than their mean is learned
LEARNED_FROM = 500  # times at most, evenly spread over their order
PRODUCTS = 150  # terms at most
RIDGES = np.geomspace(1e-2, 1e3, 11)
CLEARLY = 0.75  # of the mean squared error of a constant: a model must be better than that


@dataclass(frozen=True)
class Durations:
    """log seconds = center + slope · z + zᵀ bend z + spread · N(0, 1), where z = 2 x − 1."""

    center: float
    slope: Array  # (width,)
    bend: Array  # (width, width), symmetric
    spread: float  # root mean square of what was predicted wrongly, each time left out in turn

    @property
    def informed(self) -> bool:
        """Whether some points are expected to take longer than others."""
        return bool(self.slope.any() or self.bend.any())

    def log_seconds(self, Z: Array) -> tuple[Array, Array]:
        """What is expected (m,) at Z (m, width), as likely to be exceeded as not, and its gradient (m, width)."""
        z = 2.0 * Z - 1.0
        curved = z @ self.bend
        value = self.center + z @ self.slope + np.einsum("md,md->m", curved, z)
        return value, 2.0 * (self.slope + 2.0 * curved)

    def quantile(self, Z: Array, share: float) -> Array:
        """Seconds (m,) within which this share of all evaluations at Z (m, width) ends."""
        return np.asarray(np.exp(self.log_seconds(Z)[0] + float(ndtri(share)) * self.spread))


def learned(X: Array, seconds: Array) -> Durations:
    """What the times (n,) of evaluations at X (n, width) teach; there must be one at least."""
    n, width = X.shape
    if n > LEARNED_FROM:
        some = evenly_spread(n, LEARNED_FROM)
        return learned(X[some], seconds[some])
    y = np.log(np.maximum(seconds, SHORTEST))
    center = float(y.mean())
    above = y - center
    error = float(np.mean((above * n / (n - 1)) ** 2)) if n > 1 else 0.0
    constant = Durations(center, np.zeros(width), np.zeros((width, width)), error**0.5)
    if n < FEWEST or error < EVEN**2:
        return constant
    fits = [_ridge(terms, above) for terms in _terms(2.0 * X - 1.0)]
    best, weights, offset = min(fits, key=lambda fit: fit[0])
    if best >= CLEARLY * error:
        return constant
    return Durations(center - offset, *_quadratic(weights, width), best**0.5)


def _terms(z: Array) -> Iterator[Array]:  # (n, p)
    n, width = z.shape
    yield z
    yield np.hstack([z, z**2])
    rows, columns = np.triu_indices(width)
    if width + len(rows) <= min(n, PRODUCTS):
        yield np.hstack([z, z[:, rows] * z[:, columns]])


def _ridge(terms: Array, y: Array) -> tuple[float, Array, float]:
    """The least mean squared error of what was left out, the weights (p,) there, and their sum at the mean of terms."""
    n, middle = len(y), terms.mean(axis=0)
    U, s, Vt = np.linalg.svd(terms - middle, full_matrices=False)
    projected = U.T @ y
    shrunk = s**2 / (s**2 + RIDGES[:, None])  # (ridges, k)
    leverage = shrunk @ (U**2).T + 1.0 / n  # (ridges, n)
    errors = (((y - (shrunk * projected) @ U.T) / (1.0 - leverage)) ** 2).mean(axis=1)
    best = int(errors.argmin())
    weights = (projected * s / (s**2 + RIDGES[best])) @ Vt
    return float(errors[best]), weights, float(weights @ middle)


def _quadratic(weights: Array, width: int) -> tuple[Array, Array]:
    """The slope and the bend that the weights of a set of terms stand for."""
    slope, others = weights[:width], weights[width:]
    bend = np.zeros((width, width))
    if len(others) == width:
        bend[np.diag_indices(width)] = others
    elif len(others):
        bend[np.triu_indices(width)] = others
    return slope, (bend + bend.T) / 2.0
