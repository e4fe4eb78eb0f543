"""The model of the paper: zero mean, one length scale for all coordinates, noise known beforehand; its likelihood.

    y = f(x) + noise,    K = s M(l) + v I,

where M(l) is the Matérn-5/2 correlation matrix and v the noise variance. What is learned lives in one vector of
logarithms,

    phi = (log l, log s).

The log marginal likelihood and its gradient cost one Cholesky factor and one inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack
from scipy.spatial.distance import pdist, squareform

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52, matern52_and_slope
from aegisbo.gp.posterior import GP, condition

Bounds = tuple[float, float]
LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class IsotropicModel:
    """Bounds of the hyper-parameters, in natural units, and the noise."""

    lengthscale: Bounds  # l
    outputscale: Bounds  # s
    noise: float  # v, on the scale of the standardized outputs

    @property
    def bounds(self) -> Array:
        """Limits (2, 2) of phi, rows (low, high)."""
        return np.log([self.lengthscale, self.outputscale])

    def posterior(self, X: Array, y: Array, phi: Array) -> GP:
        """The GP given standardized y (n,) at X (n, d), at these hyper-parameters."""
        return condition(Matern52(np.exp(phi[:1]), float(np.exp(phi[1]))), self.noise, X, y)


class IsotropicLikelihood:
    """Log marginal likelihood of standardized y (n,) at X (n, d), as a function of phi (2,)."""

    def __init__(self, X: Array, y: Array, model: IsotropicModel) -> None:
        self.y = y  # (n,)
        self.model = model
        self._pairs = pdist(X, "sqeuclidean")  # (n (n - 1) / 2,)

    def value(self, phi: Array) -> float:
        """−inf where K cannot be factored."""
        at = self._at(phi)
        return -np.inf if at is None else at.log_likelihood

    def value_and_gradient(self, phi: Array) -> tuple[float, Array]:
        """The value and its gradient (2,) in phi."""
        at = self._at(phi)
        return (-np.inf, np.zeros_like(phi)) if at is None else (at.log_likelihood, self._gradient(at))

    def rescaled(self, phi: Array) -> tuple[float, Array]:
        """A good output scale beside the given length scale, and the value to be had near there.

        There is a formula for the best s if the noise grew with it. That is close enough to tell good length scales
        from bad ones, at no cost beyond the factor.
        """
        at = self._at(phi)
        if at is None:
            return -np.inf, phi
        n, s = len(self.y), float(np.exp(phi[1]))
        low, high = self.model.outputscale
        growth = min(max(at.fit / n, low / s), high / s)
        moved = np.append(phi[:1], phi[1] + np.log(growth))
        return at.log_likelihood + 0.5 * at.fit * (1.0 - 1.0 / growth) - 0.5 * n * np.log(growth), moved

    def _at(self, phi: Array) -> _IsotropicAlgebra | None:
        n, s = len(self.y), float(np.exp(phi[1]))
        squares = self._pairs / np.exp(phi[:1]) ** 2
        covariances, slopes = matern52_and_slope(squares)
        covariances *= s
        K = squareform(covariances)  # (n, n)
        K.flat[:: n + 1] = s + self.model.noise
        # K is symmetric: its transpose is the same matrix in the column order that LAPACK can overwrite.
        L, failed = lapack.dpotrf(K.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        alpha, _ = lapack.dpotrs(L, self.y, lower=1)
        fit = float(self.y @ alpha)
        log_likelihood = -0.5 * fit - float(np.log(np.diagonal(L)).sum()) - 0.5 * n * LOG_2PI
        return _IsotropicAlgebra(log_likelihood, s, L, alpha, fit, squares, slopes)

    def _gradient(self, at: _IsotropicAlgebra) -> Array:
        v = self.model.noise
        inverse, _ = lapack.dpotri(at.L, lower=1, overwrite_c=1)
        trace = float(np.trace(inverse))
        # ∂ log p / ∂φ = ½ tr[(ααᵀ − K⁻¹) ∂K/∂φ]; W = K⁻¹ − ααᵀ, in the one triangle that dpotri filled.
        W = blas.dsyr(-1.0, at.alpha, lower=1, a=inverse, overwrite_a=1)
        pairs = squareform(W.T, checks=False)  # (n (n - 1) / 2,)
        pairs *= at.slopes
        by_lengthscale = (-5.0 / 3.0 * at.s) * (pairs @ at.squares)
        by_outputscale = 0.5 * (at.fit - v * float(at.alpha @ at.alpha)) - 0.5 * (len(self.y) - v * trace)
        return np.array([by_lengthscale, by_outputscale])


@dataclass(frozen=True)
class _IsotropicAlgebra:
    """The linear algebra at one phi."""

    log_likelihood: float
    s: float
    L: Array  # (n, n) factor of K, garbage above the diagonal
    alpha: Array  # (n,) K^-1 y
    fit: float  # y' K^-1 y
    squares: Array  # (n (n - 1) / 2,) scaled squared distances
    slopes: Array  # (n (n - 1) / 2,) (1 + c) exp(-c)
