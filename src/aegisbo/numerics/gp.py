"""A Gaussian process conditioned on data: posterior mean, variance, their gradients, more data, believed data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aegisbo.arrays import Array, Floats
from aegisbo.numerics.kernels import Matern52, matern52, matern52_and_slope
from aegisbo.numerics.linalg import Factor, extend, factorise


@dataclass(frozen=True)
class GP:
    """Posterior of a zero-mean GP given y at X. Make one with `condition`."""

    kernel: Matern52
    noise: float  # variance of the measurement noise
    X: Array  # (n, d)
    y: Array  # (n,)
    factor: Factor  # of K = k(X, X) + noise I
    alpha: Array  # (n,) K^-1 y

    @property
    def jitter(self) -> float:
        return self.factor.jitter

    def squared_distances(self, Z: Floats) -> Floats:
        """From all data to Z (m, d): (n, m), in units of the length scales and in the precision of Z."""
        return self.kernel.distances_from(self._single_origins if Z.dtype == np.float32 else self._origins, Z)

    def covariances(self, Z: Floats) -> Floats:
        """k(X, Z) (n, m), in the precision of Z (m, d)."""
        k = matern52(self.squared_distances(Z))
        k *= self.kernel.outputscale
        return k

    def mean(self, Z: Floats) -> Floats:
        """Posterior mean (m,) at Z (m, d), eq. 1; single-precision Z is answered in single precision."""
        return np.asarray(self.alpha.astype(Z.dtype, copy=False) @ self.covariances(Z))

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Posterior mean and variance (m,) of the noise-free function at Z (m, d), eqs. 1 and 2."""
        k = self.covariances(Z)  # (n, m)
        return self.alpha @ k, self._variance(self.factor.whiten_again(k))

    def covariance(self, A: Array, B: Array) -> Array:
        """Joint posterior covariance (a, b) of the noise-free function between A (a, d) and B (b, d)."""
        white_A = self.factor.whiten(self.covariances(A))
        white_B = self.factor.whiten(self.covariances(B))
        return np.asarray(self.kernel(A, B) - white_A.T @ white_B)

    def mean_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Posterior mean (m,) and its gradient (m, d) at Z (m, d)."""
        correlations, slopes = matern52_and_slope(self.squared_distances(Z))  # (n, m)
        mu = self.kernel.outputscale * (self.alpha @ correlations)
        return mu, self.kernel.weighted_gradient(Z, self.X, slopes.T, self.alpha)

    def predict_and_gradient(self, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (m,), variance (m,), gradient of the mean (m, d), gradient of the variance (m, d) at Z (m, d)."""
        k, slopes = matern52_and_slope(self.squared_distances(Z))  # (n, m)
        k *= self.kernel.outputscale
        white = self.factor.whiten_again(k)  # (n, m)
        solved = self.factor.unwhiten(white)  # (n, m) K^-1 k
        grad_mu = self.kernel.weighted_gradient(Z, self.X, slopes.T, self.alpha)
        grad_var = -2.0 * self.kernel.weighted_gradient(Z, self.X, slopes.T, solved.T)
        return self.alpha @ k, self._variance(white), grad_mu, grad_var

    def mean_hessian(self, z: Array) -> Array:
        """Second derivatives (d, d) of the posterior mean at one point z (d,)."""
        return self.kernel.weighted_hessian(z, self.X, self.alpha)

    def extended(self, X: Array, y: Array) -> GP:
        """The posterior after further data (m, d), (m,) at the same hyper-parameters, without a new factorisation."""
        corner = self.kernel.gram(X)
        np.fill_diagonal(corner, self.kernel.outputscale + self.noise)
        factor = extend(self.factor, self.covariances(X), corner)
        return _posterior(self.kernel, self.noise, np.vstack([self.X, X]), np.append(self.y, y), factor)

    def believing(self, P: Array) -> GP:
        """The posterior if each point of P (p, d) turned out to be exactly as predicted (Kriging Believer).

        A datum without surprise moves no mean, so mean(Z) is unchanged everywhere and only the variance shrinks.
        """
        return self if len(P) == 0 else self.extended(P, self.mean(P))

    @cached_property
    def _origins(self) -> Floats:
        return self.kernel.origins(self.X)

    @cached_property
    def _single_origins(self) -> Floats:
        return self._origins.astype(np.float32)

    def _variance(self, white: Array) -> Array:
        variance = self.kernel.outputscale - np.einsum("nm,nm->m", white, white)
        return np.asarray(np.maximum(variance, 0.0))  # rounding may leave a tiny negative number at a datum


def condition(kernel: Matern52, noise: float, X: Array, y: Array) -> GP:
    """The posterior given measurements y (n,) at X (n, d), each with noise variance `noise`."""
    K = kernel.gram(X)
    np.fill_diagonal(K, kernel.outputscale + noise)
    return _posterior(kernel, noise, X, y, factorise(K))


def _posterior(kernel: Matern52, noise: float, X: Array, y: Array, factor: Factor) -> GP:
    return GP(kernel, noise, X, y, factor, factor.solve(y))
