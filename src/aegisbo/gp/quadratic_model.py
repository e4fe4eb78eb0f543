"""A model of the neighborhood of a minimum: a quadratic and what it leaves over.

    y = μ + q(u) + f(u) + noise,    K = s [M(l) + b (p + p²) + ρ I],    p(u, u') = uᵀu'/d,

where M(l) is an isotropic Matérn-5/2 correlation and b (p + p²) is the covariance of all linear and quadratic functions
of u with independent normal coefficients. Unlike a sum over coordinates it knows no preferred axes: a narrow valley in
any direction is learned from about (d + 1)(d + 2)/2 points. What is learned lives in phi = (log l, log b, log ρ); μ and
s have closed forms (additive_model.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas, lapack

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52, matern52_and_slope
from aegisbo.gp.linalg import Factor, extend, factorize
from aegisbo.gp.posterior import GP
from aegisbo.search.descent import climb

# Limits and normal priors (center, standard deviation) of phi. Inputs are of the order of 1, outputs have variance 1.
BOUNDS = np.array([[-2.5, 4.0], [-6.0, 8.0], [-23.0, 0.0]])
CENTER = np.array([0.5, 1.0, -16.0])
SPREAD = np.array([1.5, 3.0, 5.0])
START_PHIS = np.array([[0.0, 1.0, -12.0], [1.0, 2.5, -14.0], [-0.7, -1.0, -8.0]])  # of both a bit, mostly a bowl, rough
CLIMB_STEPS = 30
WARM_STEPS = 10  # of a climb from hyper-parameters that were good for nearly the same data
CONSTANT_PRECISION = 0.01  # κ


@dataclass(frozen=True)
class QuadraticGP:
    """Posterior of the model given data at U."""

    kernel: Matern52  # the rest, with its output scale s
    bowl: float  # s b
    noise: float  # s ρ
    X: Array  # (n, d) u
    y: Array  # (n,) above the constant
    factor: Factor  # of K
    alpha: Array  # (n,) K⁻¹ y
    constant: float

    @property
    def phi(self) -> Array:
        """What was learned (3,)."""
        return np.log([self.kernel.lengthscale[0], *np.array([self.bowl, self.noise]) / self.kernel.outputscale])

    def mean(self, Z: Array) -> Array:
        """Posterior mean (m,) at Z (m, d)."""
        return np.asarray(self.alpha @ self._covariances(Z)[0] + self.constant)

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Posterior mean and variance (m,) of the noise-free function at Z (m, d)."""
        k = self._covariances(Z)[0]  # (n, m)
        return self.alpha @ k + self.constant, self._variance(Z, self.factor.whiten_again(k))

    def predict_and_gradient(self, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (m,), variance (m,), gradient of the mean (m, d), gradient of the variance (m, d) at Z (m, d)."""
        k, slopes, products = self._covariances(Z)  # (n, m)
        white = self.factor.whiten_again(k)
        solved = self.factor.unwhiten(white)  # K⁻¹ k
        weights = np.broadcast_to(self.alpha[:, None], k.shape)
        lengths = (Z**2).mean(axis=1)[:, None]
        of_prior = 2.0 * self.bowl * (1.0 + 2.0 * lengths) * Z / Z.shape[1]
        of_variance = of_prior - 2.0 * self._weighted_gradient(Z, slopes, products, solved)
        of_mean = self._weighted_gradient(Z, slopes, products, weights)
        return self.alpha @ k + self.constant, self._variance(Z, white), of_mean, of_variance

    def extended(self, X: Array, y: Array) -> QuadraticGP:
        """The posterior after further data (m, d), (m,) at the same hyper-parameters."""
        if len(X) == 0:
            return self
        corner = _covariance(self.kernel, self.bowl, X, X)
        corner[np.diag_indices_from(corner)] += self.noise
        factor = extend(self.factor, self._covariances(X)[0], corner)
        y = np.append(self.y, y - self.constant)
        return replace(self, X=np.vstack([self.X, X]), y=y, factor=factor, alpha=factor.solve(y))

    def believing(self, P: Array) -> QuadraticGP:
        """The posterior if each point of P (p, d) turned out to be exactly as predicted."""
        return self.extended(P, self.mean(P)) if len(P) else self

    def _covariances(self, Z: Array) -> tuple[Array, Array, Array]:
        """k(U, Z), the slopes of the Matérn part, and the inner products p, (n, m) each."""
        correlations, slopes = matern52_and_slope(self.kernel.squared_distances(self.X, Z))
        products = self.X @ Z.T / Z.shape[1]
        return self.kernel.outputscale * correlations + self.bowl * (products + products**2), slopes, products

    def _weighted_gradient(self, Z: Array, slopes: Array, products: Array, weights: Array) -> Array:
        """Gradient (m, d) in z of Σ_j weights_j k(u_j, z), for weights (n, m)."""
        rest = self.kernel.weighted_gradient(Z, self.X, slopes.T, weights.T)
        return np.asarray(rest + self.bowl / Z.shape[1] * (weights * (1.0 + 2.0 * products)).T @ self.X)

    def _variance(self, Z: Array, white: Array) -> Array:
        lengths = (Z**2).mean(axis=1)
        prior = self.kernel.outputscale + self.bowl * (lengths + lengths**2)
        return np.asarray(np.maximum(prior - np.einsum("nm,nm->m", white, white), 0.0))


Posterior = GP | QuadraticGP  # both predict, with gradients


def fit(X: Array, y: Array, warm: Array | None = None) -> QuadraticGP:
    """The posterior of y (n,) at X (n, d) at the best hyper-parameters found; X of the order of 1, y standardized.

    If `warm` is given, an earlier phi (3,), they are looked for near it only.
    """
    likelihood = QuadraticLikelihood(X, y)
    starts, steps = (START_PHIS, CLIMB_STEPS) if warm is None else ([warm], WARM_STEPS)
    tops = [climb(likelihood.value_and_gradient, start, BOUNDS, steps=steps) for start in starts]
    return likelihood.posterior(max(tops, key=lambda top: top[0])[1])


class QuadraticLikelihood:
    """Log likelihood plus log prior of y (n,) at X (n, d), as a function of phi (3,)."""

    def __init__(self, X: Array, y: Array) -> None:
        self.X, self.y = X, y
        self._squares = Matern52(np.ones(1), 1.0).squared_distances(X, X)  # (n, n)
        products = X @ X.T / X.shape[1]
        self._bowl = products + products**2  # (n, n)

    def value_and_gradient(self, phi: Array) -> tuple[float, Array]:
        """The value and its gradient (3,); −inf where C cannot be factored."""
        n = len(self.y)
        lengthscale, b, noise = np.exp(phi)
        squares = self._squares / lengthscale**2
        M, slopes = matern52_and_slope(squares)
        C = M + b * self._bowl
        C.flat[:: n + 1] += noise
        L, failed = lapack.dpotrf(C, lower=1, clean=1, overwrite_a=1)
        if failed:
            return -np.inf, np.zeros(3)
        _, alpha, s = self._closed_forms(Factor(L, 0.0))
        z = (phi - CENTER) / SPREAD
        value = -0.5 * n * np.log(s) - float(np.log(np.diagonal(L)).sum()) - 0.5 * float(z @ z)
        inverse, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
        # ∂ log p / ∂φ = −½ tr(W ∂C/∂φ), W = C⁻¹ − ααᵀ/s, of which the lower triangle is known.
        W = blas.dsyr(-1.0 / s, alpha, lower=1, a=inverse, overwrite_a=1)
        diagonal = np.diagonal(W).copy()
        of_lengthscale = 5.0 / 3.0 * float(np.vdot(W, slopes * squares))  # the diagonal of the squares is zero
        of_bowl = b * (float(np.vdot(W, self._bowl)) - 0.5 * float(diagonal @ np.diagonal(self._bowl)))
        gradient = -np.array([of_lengthscale, of_bowl, 0.5 * noise * float(diagonal.sum())])
        return value, gradient - z / SPREAD

    def posterior(self, phi: Array) -> QuadraticGP:
        """Given the data, at these hyper-parameters."""
        lengthscale, b, noise = np.exp(phi)
        unit = Matern52(np.array([lengthscale]), 1.0)
        C = _covariance(unit, b, self.X, self.X)
        C[np.diag_indices_from(C)] += noise
        unscaled = factorize(C)
        constant, alpha, s = self._closed_forms(unscaled)
        factor = Factor(unscaled.L * s**0.5, unscaled.jitter * s)
        kernel = Matern52(unit.lengthscale, s)
        return QuadraticGP(kernel, s * b, s * noise, self.X, self.y - constant, factor, alpha / s, constant)

    def _closed_forms(self, factor: Factor) -> tuple[float, Array, float]:
        """μ, C⁻¹(y − μ) (n,) and s."""
        of_ones, of_y = factor.solve(np.ones(len(self.y))), factor.solve(self.y)
        constant = float(of_ones @ self.y) / (float(of_ones.sum()) + CONSTANT_PRECISION)
        alpha = of_y - constant * of_ones
        fit = float((self.y - constant) @ alpha) + CONSTANT_PRECISION * constant**2
        return constant, alpha, max(fit / len(self.y), 1e-12)


def _covariance(kernel: Matern52, bowl: float, A: Array, B: Array) -> Array:  # (a, b)
    products = A @ B.T / A.shape[1]
    return np.asarray(kernel(A, B) + bowl * (products + products**2))
