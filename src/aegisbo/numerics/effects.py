"""Main effects: one function of each coordinate, which a GP may have beside its joint kernel.

Each is a Matérn-5/2 process on the line, written in waves that vanish at a distance L from the middle of the cube
(Solin and Särkkä, 2020):

    m(x, x') ≈ Σ_b S(ω_b) φ_b(x) φ_b(x'),    φ_b(x) = sin(ω_b (x − ½ + L)) / √L,    ω_b = π b / (2L),

where S is the spectral density of the kernel. Covariances are then matrix products, and a draw is a finite sum.
Arrays over waves have one row for each wave of each coordinate: all coordinates of the first wave, of the second, ...
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma, pi, sqrt

import numpy as np

from aegisbo.arrays import Array, Floats

REACH = 0.9  # L; the cube itself reaches to 0.5
WAVES = 28  # for each coordinate; the shortest measures a fifteenth of the cube
FREQUENCIES = pi / (2.0 * REACH) * np.arange(1, WAVES + 1)  # (B,) ω
# The spectral density of Matérn-5/2 with variance 1 is this, times λ⁻⁵ (5/λ² + ω²)⁻³.
_DENSITY = 2.0 * sqrt(pi) * gamma(3.0) / gamma(2.5) * 5.0**2.5


@dataclass(frozen=True)
class MainEffects:
    """The prior of the effects: how much each wave varies."""

    variances: Array  # (B d,)

    def covariances(self, A: Array, B: Array) -> Array:
        """Covariances (a, b) between A (a, d) and B (b, d)."""
        return np.asarray((waves(A).T * self.variances) @ waves(B))


def waves(Z: Floats) -> Floats:
    """φ (B d, m) at Z (m, d), in the precision of Z."""
    theta = _angle(Z)
    return _multiples(np.sin(theta), 0.0, np.cos(theta))


def waves_and_slopes(Z: Array) -> tuple[Array, Array]:
    """φ and its derivative (B d, m) at Z (m, d)."""
    theta = _angle(Z)
    sine, cosine = np.sin(theta), np.cos(theta)
    slopes = _multiples(cosine, 1.0, cosine)
    slopes *= np.repeat(FREQUENCIES, Z.shape[1])[:, None]
    return _multiples(sine, 0.0, cosine), slopes


def by_coordinate(terms: Array, d: int) -> Array:
    """Sums (m, d) over the waves of each coordinate, of terms (B d, m)."""
    return np.asarray(terms.reshape(WAVES, d, -1).sum(axis=0).T)


def spectrum(lengthscales: Array) -> tuple[Array, Array]:
    """Variances (B, d) of the waves for length scales λ (d,), and their derivatives in log λ."""
    q = 5.0 / lengthscales**2 + FREQUENCIES[:, None] ** 2
    variances = _DENSITY * lengthscales**-5.0 * q**-3.0
    return variances, variances * (30.0 / (lengthscales**2 * q) - 5.0)


def _angle(Z: Floats) -> Floats:
    """The angle (d, m) of the first wave; far from 0 and π, where sums of angles would lose digits."""
    return np.asarray((np.ascontiguousarray(Z.T) + Z.dtype.type(REACH - 0.5)) * Z.dtype.type(FREQUENCIES[0]))


def _multiples(first: Floats, zeroth: float, cosine: Floats) -> Floats:
    """sin(bθ)/√L or cos(bθ)/√L for b = 1 … B from sin θ or cos θ: f((b + 1)θ) = 2 cos θ f(bθ) − f((b − 1)θ)."""
    result = np.empty((WAVES, *first.shape), first.dtype)
    twice = 2.0 * cosine
    before, result[0] = first.dtype.type(zeroth / sqrt(REACH)), first * first.dtype.type(1.0 / sqrt(REACH))
    for b in range(1, WAVES):
        np.multiply(twice, result[b - 1], out=result[b])
        result[b] -= before
        before = result[b - 1]
    return result.reshape(-1, first.shape[1])
