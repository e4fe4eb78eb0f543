"""The log marginal likelihood of a GP and its gradient, at the cost of one Cholesky factor and one inverse.

What is learned lives in one vector of logarithms,

    phi = (log l_1 … log l_k, log s)   with fixed noise:    K = s M(l) + noise I,
    phi = (log l_1 … log l_k, log ρ)   with learned noise:  K = s (M(l) + ρ I),

where k is 1 (isotropic) or d (ARD) and M is the Matérn-5/2 correlation matrix. In the second form the best output
scale for given l and ρ is known, s = yᵀ(M + ρI)⁻¹y / n clipped to its bounds, so nobody has to search for it. In the
first form there is no such formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack
from scipy.spatial.distance import pdist, squareform

from aegisbo.arrays import Array

Bounds = tuple[float, float]
LOG_2PI = float(np.log(2.0 * np.pi))


class LogPrior(Protocol):
    """A log density over phi, up to a constant, with its gradient."""

    def __call__(self, phi: Array) -> tuple[float, Array]: ...


@dataclass(frozen=True)
class FixedNoise:
    """Noise variance known beforehand, on the scale of the standardised outputs."""

    variance: float


@dataclass(frozen=True)
class LearnedNoise:
    """Noise variance learned as a share ρ of the output scale, within these bounds."""

    share: Bounds


@dataclass(frozen=True)
class Model:
    """What is learned and within which bounds, in natural units."""

    lengthscale: Bounds
    outputscale: Bounds
    noise: FixedNoise | LearnedNoise
    ard: bool = False
    log_prior: LogPrior | None = None

    def bounds(self, d: int) -> Array:
        """Limits of phi, rows (low, high)."""
        last = self.noise.share if isinstance(self.noise, LearnedNoise) else self.outputscale
        return np.log([self.lengthscale] * (d if self.ard else 1) + [last])


@dataclass(frozen=True)
class Theta:
    """Hyper-parameters in natural units."""

    lengthscale: Array  # (1,) or (d,)
    outputscale: float
    noise: float  # variance


class Likelihood:
    """Log likelihood plus log prior of y at X, as a function of phi."""

    def __init__(self, X: Array, y: Array, model: Model) -> None:
        self.X = X - 0.5  # (n, d); centred, because squares of coordinates are subtracted below
        self.y = y  # (n,)
        self.model = model
        self.evaluations = 0
        self._pairs = None if model.ard else pdist(X, "sqeuclidean")  # (n (n - 1) / 2,)

    def value(self, phi: Array) -> float:
        """−inf where K cannot be factored."""
        at = self._factor(phi)
        return -np.inf if at is None else at.log_likelihood + self._prior(phi)[0]

    def value_and_gradient(self, phi: Array) -> tuple[float, Array]:
        """The value and its gradient (k + 1,) in phi."""
        at = self._factor(phi)
        if at is None:
            return -np.inf, np.zeros_like(phi)
        prior, prior_gradient = self._prior(phi)
        return at.log_likelihood + prior, self._gradient(at) + prior_gradient

    def rescaled(self, phi: Array) -> tuple[float, Array]:
        """A good output scale beside the given length scales, and the value to be had near there.

        With learned noise that is phi itself. With fixed noise the formula for s holds if the noise grew with it,
        which is close enough to tell good length scales from bad ones, at no cost beyond the factor.
        """
        at = self._factor(phi)
        if at is None:
            return -np.inf, phi
        if isinstance(self.model.noise, LearnedNoise):
            return at.log_likelihood + self._prior(phi)[0], phi
        n, s = len(self.y), float(np.exp(phi[-1]))
        low, high = self.model.outputscale
        growth = min(max(at.fit / n, low / s), high / s)
        moved = np.append(phi[:-1], phi[-1] + np.log(growth))
        value = at.log_likelihood + 0.5 * at.fit * (1.0 - 1.0 / growth) - 0.5 * n * np.log(growth)
        return value + self._prior(moved)[0], moved

    def theta(self, phi: Array) -> Theta:
        """Natural units, with the output scale filled in where it follows from the rest."""
        lengthscale, last = np.exp(phi[:-1]), float(np.exp(phi[-1]))
        if isinstance(self.model.noise, FixedNoise):
            return Theta(lengthscale, last, self.model.noise.variance)
        at = self._factor(phi)
        s = 1.0 if at is None else at.s
        return Theta(lengthscale, s, last * s)

    def _prior(self, phi: Array) -> tuple[float, Array]:
        return (0.0, np.zeros_like(phi)) if self.model.log_prior is None else self.model.log_prior(phi)

    def _factor(self, phi: Array) -> _Factored | None:
        self.evaluations += 1
        n, last, noise = len(self.y), float(np.exp(phi[-1])), self.model.noise
        a, v = (last, noise.variance) if isinstance(noise, FixedNoise) else (1.0, last)
        lengthscale = np.exp(phi[:-1])
        squares = pdist(self.X / lengthscale, "sqeuclidean") if self._pairs is None else self._pairs / lengthscale**2
        covariances, slopes = _covariances_and_slopes(squares, a)
        C = squareform(covariances)  # (n, n)
        C.flat[:: n + 1] = a + v
        # C is symmetric: its transpose is the same matrix in the column order that LAPACK can overwrite.
        L, failed = lapack.dpotrf(C.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        alpha, _ = lapack.dpotrs(L, self.y, lower=1)
        fit = float(self.y @ alpha)
        s = 1.0 if isinstance(noise, FixedNoise) else float(np.clip(fit / n, *self.model.outputscale))
        half_log_det = float(np.log(np.diagonal(L)).sum()) + 0.5 * n * np.log(s)
        log_likelihood = -0.5 * fit / s - half_log_det - 0.5 * n * LOG_2PI
        return _Factored(log_likelihood, lengthscale, a, v, s, L, alpha, fit, squares, slopes)

    def _gradient(self, at: _Factored) -> Array:
        inverse, _ = lapack.dpotri(at.L, lower=1, overwrite_c=1)
        trace = float(np.trace(inverse))
        # ∂ log p / ∂φ = ½ tr[(ααᵀ/s − C⁻¹) ∂C/∂φ]; W = C⁻¹ − ααᵀ/s, in the one triangle that dpotri filled.
        W = blas.dsyr(-1.0 / at.s, at.alpha, lower=1, a=inverse, overwrite_a=1)
        pairs = squareform(W.T, checks=False)  # (n (n - 1) / 2,)
        pairs *= at.slopes
        by_lengthscale = (-5.0 / 3.0 * at.a) * self._squares_by_lengthscale(pairs, at)
        norm = float(at.alpha @ at.alpha)
        if isinstance(self.model.noise, FixedNoise):
            last = 0.5 * (at.fit - at.v * norm) - 0.5 * (len(self.y) - at.v * trace)
        else:
            last = 0.5 * at.v * (norm / at.s - trace)
        return np.append(by_lengthscale, last)

    def _squares_by_lengthscale(self, pairs: Array, at: _Factored) -> Array:
        """Σ_{i<j} pairs_ij (x_ik − x_jk)² / l_k² for each k (ARD), or summed over the coordinates (isotropic)."""
        if self._pairs is not None:
            return np.array([pairs @ at.squares])
        V, X = squareform(pairs), self.X  # (n, n), (n, d)
        return np.asarray((V.sum(axis=0) @ X**2 - np.einsum("nd,nd->d", X, V @ X)) / at.lengthscale**2)


def _covariances_and_slopes(squares: Array, a: float) -> tuple[Array, Array]:
    """a (1 + c + c²/3) exp(−c) and (1 + c) exp(−c), c = √5 r, in few arrays: they are small enough for the cache."""
    c = 5.0 * squares
    np.sqrt(c, out=c)
    decay = np.negative(c)
    np.exp(decay, out=decay)
    c += 1.0
    slopes = np.multiply(c, decay, out=c)
    covariances = (5.0 / 3.0) * squares
    covariances *= decay
    covariances += slopes
    covariances *= a
    return covariances, slopes


@dataclass(frozen=True)
class _Factored:
    """The linear algebra at one phi, K = s C with C = a M + v I."""

    log_likelihood: float
    lengthscale: Array
    a: float
    v: float
    s: float
    L: Array  # (n, n) factor of C, garbage above the diagonal
    alpha: Array  # (n,) C^-1 y
    fit: float  # y' C^-1 y
    squares: Array  # (n (n - 1) / 2,) scaled squared distances
    slopes: Array  # (n (n - 1) / 2,) (1 + c) exp(-c)
