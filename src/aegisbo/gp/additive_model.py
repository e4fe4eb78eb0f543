"""The model of the modern preset: a joint kernel, main effects, a constant and learned noise; its likelihood.

    y = μ + f(x) + Σ_i g_i(x_i) + noise,    K = s C,    C = (1 − a) M(l) + (a/d) Σ_i M(λ_i) + ρ I,

where M(l) is the joint Matérn-5/2 correlation with a length scale for each coordinate and M(λ_i) that of coordinate i
alone (main_effects.py). What is learned lives in one vector,

    phi = (log l_1 … log l_d, log λ_1 … log λ_d, logit a, log ρ).

Given phi the best constant and output scale are known: with b = C⁻¹1, μ = bᵀy / (bᵀ1 + κ) for a normal prior of
precision κ/s on μ, and s = [(y − μ)ᵀC⁻¹(y − μ) + κμ²] / n, clipped to its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack
from scipy.spatial.distance import pdist, squareform

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52, matern52_and_slope
from aegisbo.gp.main_effects import WAVES, MainEffects, spectrum, waves
from aegisbo.gp.posterior import GP, condition
from aegisbo.gp.sparse_points import WIDE

Bounds = tuple[float, float]
LOGIT_BOUNDS = (-6.0, 6.0)  # of a; beyond, one of the two parts has vanished


@dataclass(frozen=True)
class HierarchicalPrior:
    """A normal law for the logarithms of some numbers: one for their mean, one for their deviations from it.

    Few data in many dimensions cannot tell the coordinates apart; this keeps them together until they can.
    """

    center: float
    spread: float  # standard deviation of the mean
    apart: float  # of the deviations from it

    def log_density(self, logs: Array) -> tuple[float, Array]:
        """Up to a constant, with its gradient (d,)."""
        mean = logs.mean()
        away, deviations = (mean - self.center) / self.spread, (logs - mean) / self.apart
        value = -0.5 * (away**2 + deviations @ deviations)
        return float(value), -away / self.spread / len(logs) - deviations / self.apart


@dataclass(frozen=True)
class AdditiveModel:
    """Bounds and priors of the hyper-parameters, in natural units."""

    lengthscale: Bounds
    effect_lengthscale: Bounds
    outputscale: Bounds  # s
    noise: Bounds  # ρ, a share of s
    lengthscale_prior: HierarchicalPrior
    effect_lengthscale_prior: HierarchicalPrior
    share_spread: float  # logit a ~ N(0, this²)
    noise_center: float  # log ρ ~ N(log of this, noise_spread²)
    noise_spread: float
    constant_precision: float  # κ

    def bounds(self, d: int) -> Array:
        """Limits of phi, rows (low, high)."""
        logs = np.log([self.lengthscale] * d + [self.effect_lengthscale] * d + [(1.0, 1.0), self.noise])
        logs[-2] = LOGIT_BOUNDS
        return logs

    def log_prior(self, phi: Array) -> tuple[float, Array]:
        """Up to a constant, with its gradient in phi."""
        d = len(phi) // 2 - 1
        joint, joint_gradient = self.lengthscale_prior.log_density(phi[:d])
        effect, effect_gradient = self.effect_lengthscale_prior.log_density(phi[d : 2 * d])
        z = np.array([phi[-2] / self.share_spread, (phi[-1] - np.log(self.noise_center)) / self.noise_spread])
        last_gradient = -z / np.array([self.share_spread, self.noise_spread])
        return joint + effect - 0.5 * float(z @ z), np.concatenate([joint_gradient, effect_gradient, last_gradient])


@dataclass(frozen=True)
class AdditiveHyperparameters:
    """Everything that was learned from data: what decides the posterior given others."""

    phi: tuple[float, ...]
    s: float
    constant: float

    @property
    def lengthscale(self) -> Array:
        """Those of the joint kernel (d,)."""
        return _natural(np.array(self.phi))[0]

    def given(self, X: Array, y: Array, extra: Array | None = None) -> GP:
        """The posterior given y (n,) at X (n, d), where each y has noise of a known variance besides (n,)."""
        lengthscale, a, noise, variances, _ = _natural(np.array(self.phi))
        kernel = Matern52(lengthscale, self.s * (1.0 - a))
        effects = MainEffects(self.s * a / X.shape[1] * variances.ravel())
        return condition(kernel, self.s * noise, X, y, constant=self.constant, effects=effects, extra=extra)


class AdditiveLikelihood:
    """Log likelihood plus log prior of y (n,) at X (n, d), as a function of phi (2 d + 2,).

    `extra` are the variances (n,) of noise that is known besides, as shares of s.
    """

    def __init__(self, X: Array, y: Array, model: AdditiveModel, extra: Array | float = 0.0) -> None:
        self.X, self.y, self.model, self.extra = X, y, model, extra  # (n, d), (n,)
        # Most values of a long choice have not been tried: their coordinates are the same in all data.
        still = (X[0] == X).all(axis=0) if X.shape[1] >= WIDE else np.zeros(X.shape[1], np.bool_)
        self._still, self._moving = np.flatnonzero(still), np.flatnonzero(~still)
        self._waves = waves(X[:, self._moving])  # (B moving, n)
        self._still_squares = waves(X[:1, self._still]).reshape(WAVES, len(self._still)) ** 2  # (B, still)

    def value(self, phi: Array) -> float:
        """−inf where C cannot be factored."""
        at = self._at(phi)
        return -np.inf if at is None else at.log_likelihood + self.model.log_prior(phi)[0]

    def of_data(self, phi: Array) -> float:
        """The log likelihood without the prior; −inf beyond the bounds."""
        low, high = self.model.bounds(self.X.shape[1]).T
        at = self._at(phi) if (low <= phi).all() and (phi <= high).all() else None
        return -np.inf if at is None else at.log_likelihood

    def value_and_gradient(self, phi: Array) -> tuple[float, Array]:
        """The value and its gradient (2 d + 2,)."""
        at = self._at(phi)
        if at is None:
            return -np.inf, np.zeros_like(phi)
        prior, prior_gradient = self.model.log_prior(phi)
        return at.log_likelihood + prior, self._gradient(at) + prior_gradient

    def hyperparameters(self, phi: Array) -> AdditiveHyperparameters:
        """phi with the output scale and the constant that are best for the data."""
        at = self._at(phi)
        s, constant = (1.0, float(self.y.mean())) if at is None else (at.s, at.constant)
        return AdditiveHyperparameters(tuple(phi.tolist()), s, constant)

    def _at(self, phi: Array) -> _AdditiveAlgebra | None:
        n, d = self.X.shape
        lengthscale, a, noise, variances, slopes_of_variances = _natural(phi)
        M, slopes = matern52_and_slope(pdist(self.X / lengthscale, "sqeuclidean"))  # (n (n - 1) / 2,)
        C = (a / d) * (self._waves.T * variances[:, self._moving].ravel()) @ self._waves  # (n, n)
        if len(self._still):
            C += (a / d) * float((variances[:, self._still] * self._still_squares).sum())
        C += squareform((1.0 - a) * M)
        C.flat[:: n + 1] += 1.0 - a + noise + self.extra
        L, failed = lapack.dpotrf(C.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        solved, _ = lapack.dpotrs(L, np.stack([self.y, np.ones(n)], axis=1), lower=1)
        b, kappa = solved[:, 1], self.model.constant_precision
        constant = float(b @ self.y) / (float(b.sum()) + kappa)
        alpha = solved[:, 0] - constant * b
        fit = float((self.y - constant) @ alpha) + kappa * constant**2
        s = float(np.clip(fit / n, *self.model.outputscale))
        log_likelihood = -0.5 * fit / s - 0.5 * n * np.log(s) - float(np.log(np.diagonal(L)).sum())
        return _AdditiveAlgebra(
            log_likelihood, lengthscale, a, noise, variances, slopes_of_variances, L, alpha, s, constant, M, slopes
        )

    def _gradient(self, at: _AdditiveAlgebra) -> Array:
        d = self.X.shape[1]
        inverse, _ = lapack.dpotri(at.L, lower=1, overwrite_c=1)
        # ∂ log p / ∂φ = −½ tr(W ∂C/∂φ), W = C⁻¹ − ααᵀ/s. μ and s are at their best, so they add nothing.
        W = blas.dsyr(-1.0 / at.s, at.alpha, lower=1, a=inverse, overwrite_a=1)
        diagonal = np.diagonal(W).copy()
        pairs = squareform(W.T, checks=False)  # (n (n - 1) / 2,)
        by_wave = self._traces(pairs, diagonal)  # (B, d)
        V = squareform(pairs * at.slopes)
        X = (self.X - 0.5) / at.lengthscale
        joint = (-5.0 / 3.0 * (1.0 - at.a)) * (V.sum(axis=0) @ X**2 - np.einsum("nd,nd->d", X, V @ X))
        effect = (-0.5 * at.a / d) * (by_wave * at.slopes_of_variances).sum(axis=0)
        of_effects = float((by_wave * at.variances).sum()) / d
        of_joint = 2.0 * float(pairs @ at.M) + float(diagonal.sum())
        share = -0.5 * at.a * (1.0 - at.a) * (of_effects - of_joint)
        return np.concatenate([joint, effect, [share, -0.5 * at.noise * float(diagonal.sum())]])

    def _traces(self, pairs: Array, diagonal: Array) -> Array:
        """φᵀWφ (B, d) for each wave φ of each coordinate."""
        W = squareform(pairs)
        np.fill_diagonal(W, diagonal)
        traces = np.empty((WAVES, self.X.shape[1]))
        traces[:, self._moving] = np.einsum("wn,wn->w", self._waves @ W, self._waves).reshape(WAVES, -1)
        traces[:, self._still] = W.sum() * self._still_squares
        return traces


def _natural(phi: Array) -> tuple[Array, float, float, Array, Array]:
    """l, a, ρ, and the variances of the waves with their slopes in log λ."""
    d = len(phi) // 2 - 1
    share, noise = float(1.0 / (1.0 + np.exp(-phi[-2]))), float(np.exp(phi[-1]))
    return np.exp(phi[:d]), share, noise, *spectrum(np.exp(phi[d : 2 * d]))


@dataclass(frozen=True)
class _AdditiveAlgebra:
    """The linear algebra at one phi."""

    log_likelihood: float
    lengthscale: Array  # (d,)
    a: float
    noise: float
    variances: Array  # (B, d) of the waves
    slopes_of_variances: Array  # (B, d)
    L: Array  # (n, n) factor of C, garbage above the diagonal
    alpha: Array  # (n,) C^-1 (y − μ)
    s: float
    constant: float
    M: Array  # (n (n - 1) / 2,) joint correlations
    slopes: Array  # (n (n - 1) / 2,) (1 + c) exp(-c)
