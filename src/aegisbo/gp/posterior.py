"""A Gaussian process conditioned on data: posterior mean, variance, their gradients, more data, believed data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from aegisbo.arrays import Array, Floats
from aegisbo.gp.kernels import Matern52, matern52, matern52_and_slope
from aegisbo.gp.linalg import Factor, extend, factorize
from aegisbo.gp.main_effects import FREQUENCIES, MainEffects, by_coordinate, waves, waves_and_slopes
from aegisbo.gp.sparse_points import scaled, sparse, squared_distances, waves_and_slopes_at, waves_at


@dataclass(frozen=True)
class GP:
    """Posterior of a GP given data at X. Make one with `condition`.

    The prior is a constant, a joint kernel of all coordinates and, if given, main effects of each.
    """

    kernel: Matern52
    noise: float  # variance of the measurement noise of all data
    X: Array  # (n, d)
    y: Array  # (n,) measured above the constant
    factor: Factor  # of K = k(X, X) + noise I + diag(extra)
    alpha: Array  # (n,) K^-1 y
    constant: float = 0.0
    effects: MainEffects | None = None
    extra: Array | None = None  # (n,) variance of the noise of each datum beyond that of all; None for none

    def squared_distances(self, Z: Floats) -> Floats:
        """From all data to Z (m, d): (n, m), in units of the length scales and in the precision of Z."""
        few = sparse(Z)
        if few is not None:
            return squared_distances(self._sparse_data.astype(Z.dtype), scaled(few, self.kernel.lengthscale))
        return self.kernel.distances_from(self._single_origins if Z.dtype == np.float32 else self._origins, Z)

    def covariances(self, Z: Floats) -> Floats:
        """k(X, Z) (n, m), in the precision of Z (m, d)."""
        k = self.joint_covariances(Z)
        if self.effects is not None:
            k += waves_at(Z).weighted(self.weighted_waves.T.astype(Z.dtype, copy=False))
        return k

    def mean(self, Z: Floats) -> Floats:
        """Posterior mean (m,) at Z (m, d), eq. 1; single-precision Z is answered in single precision."""
        mu = np.asarray(self.alpha.astype(Z.dtype, copy=False) @ self.joint_covariances(Z))
        if self.effects is not None:
            mu += waves_at(Z).weighted(self._mean_effects.astype(Z.dtype, copy=False))
        return mu + Z.dtype.type(self.constant) if self.constant else mu

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Posterior mean and variance (m,) of the noise-free function at Z (m, d), eqs. 1 and 2."""
        k = self.joint_covariances(Z)  # (n, m)
        prior: Array | float = self.kernel.outputscale
        if self.effects is not None:
            phi = waves_at(Z)
            k += phi.weighted(self.weighted_waves.T)
            prior = prior + phi.squared(self.effects.variances)
        return self.alpha @ k + self.constant, self._variance(prior, self.factor.whiten_again(k))

    def covariance(self, A: Array, B: Array) -> Array:
        """Joint posterior covariance (a, b) of the noise-free function between A (a, d) and B (b, d)."""
        white_A = self.factor.whiten(self.covariances(A))
        white_B = self.factor.whiten(self.covariances(B))
        return np.asarray(self._prior_covariance(A, B) - white_A.T @ white_B)

    def mean_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Posterior mean (m,) and its gradient (m, d) at Z (m, d)."""
        correlations, slopes = matern52_and_slope(self.squared_distances(Z))  # (n, m)
        mu = self.kernel.outputscale * (self.alpha @ correlations)
        gradient = self.kernel.weighted_gradient(Z, self.X, slopes.T, self.alpha)
        if self.effects is not None:
            phi = waves_and_slopes_at(Z)
            mu += phi.weighted(self._mean_effects)
            gradient += phi.slopes(self._mean_effects)
        return mu + self.constant, gradient

    def predict_and_gradient(self, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (m,), variance (m,), gradient of the mean (m, d), gradient of the variance (m, d) at Z (m, d)."""
        k, slopes = matern52_and_slope(self.squared_distances(Z))  # (n, m)
        k *= self.kernel.outputscale
        prior: Array | float = self.kernel.outputscale
        if self.effects is not None:
            phi, phi_slopes = waves_and_slopes(Z)  # (B d, m)
            k += self.weighted_waves.T @ phi
            prior = prior + self.effects.variances @ phi**2
        white = self.factor.whiten_again(k)  # (n, m)
        solved = self.factor.unwhiten(white)  # (n, m) K^-1 k
        grad_mu = self.kernel.weighted_gradient(Z, self.X, slopes.T, self.alpha)
        grad_var = -2.0 * self.kernel.weighted_gradient(Z, self.X, slopes.T, solved.T)
        if self.effects is not None:
            grad_mu += by_coordinate(self._mean_effects[:, None] * phi_slopes, Z.shape[1])
            left = self.effects.variances[:, None] * phi - self.weighted_waves @ solved  # what the data leave open
            grad_var += 2.0 * by_coordinate(left * phi_slopes, Z.shape[1])
        return self.alpha @ k + self.constant, self._variance(prior, white), grad_mu, grad_var

    def steepness(self, Z: Array) -> tuple[Array, Array]:
        """The slope |∇μ| (m,) of the posterior mean at Z (m, d), and its own gradient (m, d): ∇²μ ∇μ / |∇μ|."""
        squares = self.squared_distances(Z)  # (n, m)
        slopes = matern52_and_slope(squares)[1]
        gradient = self.kernel.weighted_gradient(Z, self.X, slopes.T, self.alpha)
        if self.effects is not None:
            gradient += waves_and_slopes_at(Z).slopes(self._mean_effects)
        bend = self.kernel.weighted_bend(Z, self.X, squares.T, slopes.T, self.alpha, gradient)
        if self.effects is not None:
            bends = -np.repeat(FREQUENCIES**2, Z.shape[1])[:, None] * waves(Z)  # (B d, m)
            bend += gradient * by_coordinate(self._mean_effects[:, None] * bends, Z.shape[1])
        slope = np.linalg.norm(gradient, axis=1)
        return slope, bend / np.maximum(slope, 1e-300)[:, None]

    def extended(self, X: Array, y: Array) -> GP:
        """The posterior after further data (m, d), (m,) at the same hyper-parameters, without a new factorization."""
        factor = extend(self.factor, self.covariances(X), _covariance_of_data(self.kernel, self.noise, X, self.effects))
        extra = None if self.extra is None else np.append(self.extra, np.zeros(len(X)))
        X, y = np.vstack([self.X, X]), np.append(self.y, y - self.constant)
        return replace(self, X=X, y=y, factor=factor, alpha=factor.solve(y), extra=extra)

    def measuring(self, y: Array) -> GP:
        """The posterior if y (n,) had been measured at the same points."""
        y = y - self.constant
        return replace(self, y=y, alpha=self.factor.solve(y))

    def lasting(self) -> GP:
        """This posterior, ready to be extended again and again."""
        return replace(self, factor=replace(self.factor, lasting=True))

    def believing(self, P: Array) -> GP:
        """The posterior if each point of P (p, d) turned out to be exactly as predicted (Kriging Believer).

        Data that equal their prediction do not move the mean: mean(Z) stays as it is and only the variance shrinks.
        """
        return self if len(P) == 0 else self.extended(P, self.mean(P))

    @cached_property
    def _origins(self) -> Floats:
        return self.kernel.origins(self.X)

    @cached_property
    def _single_origins(self) -> Floats:
        return self._origins.astype(np.float32)

    @cached_property
    def _sparse_data(self) -> csr_array:
        return scaled(csr_array(self.X), self.kernel.lengthscale)

    @cached_property
    def weighted_waves(self) -> Array:
        """The waves at the data times their prior variances (B d, n), for a GP with main effects."""
        assert self.effects is not None
        return self.effects.variances[:, None] * waves(self.X)

    @cached_property
    def _mean_effects(self) -> Array:
        return self.weighted_waves @ self.alpha  # (B d,)

    def _prior_covariance(self, A: Array, B: Array) -> Array:
        joint = self.kernel(A, B)
        return joint if self.effects is None else joint + self.effects.covariances(A, B)

    def joint_covariances(self, Z: Floats) -> Floats:
        """The part of k(X, Z) (n, m) that the joint kernel makes."""
        k = matern52(self.squared_distances(Z))
        k *= self.kernel.outputscale
        return k

    def _variance(self, prior: Array | float, white: Array) -> Array:
        variance = prior - np.einsum("nm,nm->m", white, white)
        return np.asarray(np.maximum(variance, 0.0))  # rounding may leave a tiny negative number where there are data


def condition(
    kernel: Matern52,
    noise: float,
    X: Array,
    y: Array,
    *,
    constant: float = 0.0,
    effects: MainEffects | None = None,
    extra: Array | None = None,
) -> GP:
    """The posterior given measurements y (n,) at X (n, d), each with noise variance `noise`, and its `extra` (n,)."""
    K = _covariance_of_data(kernel, noise, X, effects)
    if extra is not None:
        K[np.diag_indices_from(K)] += extra
    factor = factorize(K)
    y = y - constant if constant else y
    return GP(kernel, noise, X, y, factor, factor.solve(y), constant, effects, extra)


def _covariance_of_data(kernel: Matern52, noise: float, X: Array, effects: MainEffects | None) -> Array:
    K = kernel.gram(X)
    np.fill_diagonal(K, kernel.outputscale + noise)
    return K if effects is None else K + effects.covariances(X, X)
