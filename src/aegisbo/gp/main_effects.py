"""Main effects: one function of each coordinate, which a GP may have beside its joint kernel.

Each is a Matérn-5/2 process on the line, written in waves that vanish at a distance L from the middle of the cube
(Solin and Särkkä, 2020):

    m(x, x') ≈ Σ_b S(ω_b) φ_b(x) φ_b(x'),    φ_b(x) = sin(ω_b (x − ½ + L)) / √L,    ω_b = π b / (2L),

where S is the spectral density of the kernel. Covariances are then matrix products, and a draw is a finite sum. With a
length scale above about 0.3 the waves end too near, and the variance is less than 1: on a face and in the middle it is
0.75 and 0.98 at 0.5, and 0.33 and 0.65 at 1. A long effect is therefore a smaller one.
Arrays over waves have one row for each wave of each coordinate: all coordinates of the first wave, of the second, ...
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma, pi, sqrt

import numpy as np

from aegisbo.arrays import Array, Floats
from aegisbo.space.cube import ABSENT

REACH = 0.5 - ABSENT  # L; the cube itself reaches to 0.5. All waves vanish where a coordinate is absent
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
    first, twice = np.sin(theta) / Z.dtype.type(sqrt(REACH)), 2.0 * np.cos(theta)
    phi = np.empty((WAVES, *theta.shape), Z.dtype)
    phi[0], before = first, np.zeros_like(first)
    for b in range(1, WAVES):  # sin((b + 1)θ) = 2 cos θ sin(bθ) − sin((b − 1)θ)
        np.multiply(twice, phi[b - 1], out=phi[b])
        phi[b] -= before
        before = phi[b - 1]
    return phi.reshape(WAVES * len(theta), len(Z))


def waves_and_slopes(Z: Array) -> tuple[Array, Array]:
    """φ and its derivative (B d, m) at Z (m, d)."""
    turn = np.exp(1j * _angle(Z))
    turned = np.multiply.accumulate(np.broadcast_to(turn, (WAVES, *turn.shape)), axis=0)  # exp(i b θ)
    turned = turned.reshape(-1, len(Z))
    return turned.imag / sqrt(REACH), np.repeat(FREQUENCIES / sqrt(REACH), Z.shape[1])[:, None] * turned.real


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
