"""The Matérn-5/2 kernel with one shared length scale or one for each coordinate: the one place that evaluates it.

With r the distance after division by the length scales, and c = √5 r:

    k(r)          = s (1 + c + c²/3) exp(−c)
    ∂k / ∂x       = −(5/3) s (1 + c) exp(−c) · (x − x') / l²
    ∂²k / ∂x∂xᵀ   = −(5/3) s exp(−c) [(1 + c) diag(1/l²) − 5 (x − x')(x − x')ᵀ / l⁴]
    ∂k / ∂log l_i =  (5/3) s (1 + c) exp(−c) · (x_i − x'_i)² / l_i²

All are smooth functions of r², so nothing special happens at r = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats

SQRT5 = float(np.sqrt(5.0))
SPECTRAL_DOF = 5.0  # a Matérn kernel of smoothness ν has a Student-t spectrum with 2ν degrees of freedom


@dataclass(frozen=True)
class Matern52:
    """s · Matérn-5/2 of the distance in units of the length scales."""

    lengthscale: Array  # (1,) isotropic, or (d,)
    outputscale: float  # s

    def __call__(self, A: Floats, B: Floats) -> Floats:
        """Covariances (m, n) between the rows of A (m, d) and of B (n, d), in the precision of A and B."""
        covariances = matern52(self.squared_distances(A, B))
        covariances *= self.outputscale
        return covariances

    def squared_distances(self, A: Floats, B: Floats) -> Floats:
        """Squared distances (m, n) in units of the length scales, in the precision of A and B."""
        return self.distances_from(self.origins(A), B)

    def origins(self, A: Floats) -> Floats:
        """A (m, d) as rows [a, |a|², 1], ready to measure distances from again and again."""
        scaled = self._scaled(A)
        return np.column_stack([scaled, np.einsum("ij,ij->i", scaled, scaled), np.ones(len(A), A.dtype)])

    def distances_from(self, origins: Floats, B: Floats) -> Floats:
        """Squared distances (m, n) from `origins(A)` to B (n, d) by |a − b|² = [a, |a|², 1]·[−2b, 1, |b|²]."""
        scaled = self._scaled(B).T
        targets = np.ones((len(scaled) + 2, len(B)), B.dtype)
        np.multiply(scaled, -2.0, out=targets[:-2])
        np.einsum("ij,ij->j", scaled, scaled, out=targets[-1])
        squares = origins @ targets
        return np.asarray(np.maximum(squares, 0.0, out=squares))

    def _scaled(self, A: Floats) -> Floats:
        # Measured from the middle of the cube: the cancellation of a² + b² − 2ab is then least.
        return np.asarray((A - A.dtype.type(0.5)) / self.lengthscale.astype(A.dtype, copy=False))

    def gram(self, X: Array) -> Array:
        """Symmetric covariance matrix (n, n) of the rows of X, its diagonal exactly s."""
        K = self(X, X)
        K = 0.5 * (K + K.T)
        np.fill_diagonal(K, self.outputscale)
        return K

    def weighted_gradient(self, Z: Array, X: Array, slopes: Array, weights: Array) -> Array:
        """Gradient (m, d) in z of Σ_j weights_j k(z, x_j); weights (n,), or (m, n) where they depend on z.

        `slopes` (m, n) are those of `matern52_and_slope(squared_distances(Z, X))`: every caller already has them.
        """
        W = slopes * weights  # (m, n)
        moved = Z * W.sum(axis=1)[:, None] - W @ X  # Σ_j W_j (z − x_j)
        return np.asarray((-5.0 / 3.0 * self.outputscale) * moved / self.lengthscale**2)

    def weighted_bend(self, Z: Array, X: Array, squares: Array, slopes: Array, weights: Array, V: Array) -> Array:
        """Second derivatives in z of Σ_j weights_j k(z, x_j), weights (n,), times v: (m, d) for Z and V (m, d).

        `squares` (m, n) are the squared distances, `slopes` (m, n) as above. The matrices (d, d) are never made.
        """
        V = V / self.lengthscale**2
        along = np.einsum("md,md->m", Z, V)[:, None] - V @ X.T  # (m, n) vᵀ(z − x_j) / l²
        W = along * weights * np.exp(-SQRT5 * np.sqrt(squares))  # (m, n)
        moved = (Z * W.sum(axis=1)[:, None] - W @ X) / self.lengthscale**2  # Σ_j W_j (z − x_j) / l²
        return np.asarray((-5.0 / 3.0 * self.outputscale) * ((slopes @ weights)[:, None] * V - 5.0 * moved))

    def spectral_draws(self, count: int, d: int, rng: Generator) -> Array:
        """Frequencies (count, d) whose cosines have this kernel's correlation on average: a multivariate t.

        The chi-square divisor is shared by all coordinates of a frequency; drawn for each coordinate on its own it
        would give a product of one-dimensional kernels instead.
        """
        normal = rng.standard_normal((count, d))
        mixing = rng.chisquare(SPECTRAL_DOF, size=(count, 1)) / SPECTRAL_DOF
        return normal / np.sqrt(mixing) / self.lengthscale


def matern52(squares: Floats) -> Floats:
    """Correlation from squared scaled distances, in place of these: (1 + c + c²/3) exp(−c), c = √5 r."""
    c = 5.0 * squares
    np.sqrt(c, out=c)
    squares *= 5.0 / 3.0
    squares += c
    squares += 1.0
    np.negative(c, out=c)
    squares *= np.exp(c, out=c)
    return squares


def matern52_and_slope(squares: Floats) -> tuple[Floats, Floats]:
    """The correlation, and what all first derivatives share: (1 + c) exp(−c).

    In few arrays, which are then small enough for the cache.
    """
    c = 5.0 * squares
    np.sqrt(c, out=c)
    decay = np.negative(c)
    np.exp(decay, out=decay)
    c += 1.0
    c *= decay
    decay *= squares
    decay *= 5.0 / 3.0
    decay += c
    return decay, c
