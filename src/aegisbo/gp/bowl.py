"""A bowl measured with noise that grows with its height.

    log(y − c) = log q(u) + σ e,    q(u) = h (|L(u − m)|²/d + b),    e ~ N(0, 1)

c lies a little below the lowest value, so y − c is a height. If noise multiplies the height, it is even on this scale.
A Gaussian process would have to learn there that a function falls ever more steeply towards its minimum; a quadratic
need not. The bottom m, the triangular L, log b and log h are the most likely ones. All but the last have normal priors,
for coordinates u in which the lowest points lie around 0, about 1 away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aegisbo.arrays import Array
from aegisbo.gp.linalg import factorize
from aegisbo.search.descent import climb

BELOW = 0.01  # how far c lies below the lowest value, in units of the distance from there to the median
OFF = 1.0  # prior standard deviation of m, around 0
UNROUND = 0.5  # of L, around the identity
LIFT = (-1.2, 1.5)  # prior center and standard deviation of log b
ROUNDS = 3  # of a climb with a known σ, and of σ at its end
STEPS = 30  # of a climb at most
FAR = 30.0  # from the center of the prior: beyond all that is plausible
QUIET = 0.01  # σ at least


@dataclass(frozen=True)
class Bowl:
    """What is known of it: its bottom has a normal distribution."""

    bottom: Array  # (d,) m
    covariance: Array  # (d, d) of m
    log_density: float  # of all values, each predicted from the others


def bowl_of(U: Array, y: Array) -> Bowl | None:
    """The bowl that values y (n,) at U (n, d) show; None if half of them are equally low."""
    size = float(np.abs(y).max()) or 1.0
    above = y / size - y.min() / size
    middle = float(np.median(above))
    if not middle > 0.0:
        return None
    heights = above + BELOW * middle
    likelihood = _Likelihood(U, np.log(heights), float(np.log(middle)))
    phi, sigma = likelihood.center, 1.0
    for _ in range(ROUNDS):
        fit = likelihood.fit(phi, sigma)
        phi = fit.phi
        sigma = max(float(np.sqrt((fit.errors**2).sum() / (1.0 - fit.leverage).sum())), QUIET)
    left, variance = fit.errors / (1.0 - fit.leverage), sigma**2 / (1.0 - fit.leverage)
    log_density = -0.5 * (np.log(2.0 * np.pi * variance) + left**2 / variance) - np.log(heights) - np.log(size)
    d = U.shape[1]
    return Bowl(phi[:d], fit.covariance[:d, :d], float(log_density.sum()))


class _Fit(NamedTuple):
    """The top of a climb."""

    phi: Array  # (p,)
    covariance: Array  # (p, p) of phi
    errors: Array  # (n,) log heights less predicted ones
    leverage: Array  # (n,) by how much each prediction follows its own value, below 1


class _Likelihood:
    """Of phi (p,): m, the lower triangle of L row by row, log b and log h."""

    def __init__(self, U: Array, z: Array, level: float) -> None:
        d = U.shape[1]
        self.U, self.z, self._triangle = U, z, np.tril_indices(d)  # (n, d), (n,) log heights
        numbers = [d, len(self._triangle[0]), 1, 1]
        self.center = np.concatenate([np.zeros(d), np.eye(d)[self._triangle], [LIFT[0], level]])
        self.precision = np.repeat([OFF**-2, UNROUND**-2, LIFT[1] ** -2, 0.0], numbers)

    def fit(self, phi: Array, sigma: float) -> _Fit:
        """Climb from phi, and say what is known at the top."""
        box = self.center[:, None] + FAR * np.array([-1.0, 1.0])
        _, phi = climb(lambda tried: self._value_and_gradient(tried, sigma), phi, box, steps=STEPS)
        errors, slopes = self._errors(phi)
        factor = factorize(slopes.T @ slopes / sigma**2 + np.diag(self.precision))
        leverage = (factor.whiten(slopes.T) ** 2).sum(axis=0) / sigma**2
        return _Fit(phi, factor.solve(np.eye(len(phi))), errors, np.minimum(leverage, 0.999))

    def _value_and_gradient(self, phi: Array, sigma: float) -> tuple[float, Array]:
        """Log likelihood plus log prior, up to a constant, and its gradient (p,)."""
        errors, slopes = self._errors(phi)
        pull = self.precision * (phi - self.center)
        value = -0.5 * (float(errors @ errors) / sigma**2 + float(pull @ (phi - self.center)))
        return value, slopes.T @ errors / sigma**2 - pull

    def _errors(self, phi: Array) -> tuple[Array, Array]:
        """Log heights less predicted ones (n,), and the slopes of the predictions (n, p)."""
        d, (rows, columns) = self.U.shape[1], self._triangle
        L = np.zeros((d, d))
        L[rows, columns] = phi[d:-2]
        away, lift = self.U - phi[:d], np.exp(phi[-2])
        turned = away @ L.T  # (n, d)
        q = (turned**2).mean(axis=1, keepdims=True) + lift  # (n, 1), in units of h
        of_bottom, of_shape = -2.0 / d * turned @ L, 2.0 / d * turned[:, rows] * away[:, columns]
        slopes = np.hstack([of_bottom / q, of_shape / q, lift / q, np.ones_like(q)])
        return self.z - phi[-1] - np.log(q[:, 0]), slopes
