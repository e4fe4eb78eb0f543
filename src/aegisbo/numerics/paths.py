"""Functions drawn from a GP posterior by decoupled sampling (Wilson et al., 2020).

A path is a draw from the prior, in weight space, plus the correction that makes it agree with the data, in function
space:

    g(x) = Σ_j w_j √(2s/F) cos(ω_j·x + τ_j)  +  k(x, X) K⁻¹ (y − g_prior(X) − e),    w ~ N(0, I), e ~ N(0, noise I)

Everything random is drawn once, so a path is a fixed function: the same point gives the same value twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.numerics.gp import GP
from aegisbo.numerics.kernels import matern52, slope
from aegisbo.numerics.trigonometry import cos_sin

FEATURES = 2000  # as in the paper


@dataclass(frozen=True)
class SamplePaths:
    """S functions from one posterior. They share frequencies but not weights, and are independent given those."""

    gp: GP
    frequencies: Array  # (F, d)
    phases: Array  # (F,)
    weights: Array  # (S, F), amplitude included
    update: Array  # (S, n) weights of k(x, X)

    def __call__(self, Z: Floats) -> Floats:
        """Values (S, m) at Z (m, d); single-precision Z is answered in single precision."""
        rough = Z.dtype == np.float32
        frequencies, phases, weights, update, X = self._single if rough else self._double
        waves = Z @ frequencies.T  # (m, F)
        waves += phases
        np.cos(waves, out=waves)
        return np.asarray(weights @ waves.T + update @ self.gp.kernel(X, Z))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (S, m) and gradients (S, m, d) at Z (m, d)."""
        cosines, sines = cos_sin(Z @ self.frequencies.T + self.phases)  # (m, F)
        squares = self.gp.kernel.squared_distances(Z, self.gp.X)  # (m, n)
        slopes = slope(squares)
        value = self.weights @ cosines.T + self.gp.kernel.outputscale * (self.update @ matern52(squares).T)
        gradient = np.stack(
            [
                -(sines * w) @ self.frequencies + self.gp.kernel.weighted_gradient(Z, self.gp.X, slopes, v)
                for w, v in zip(self.weights, self.update, strict=True)
            ]
        )
        return value, gradient

    @property
    def _double(self) -> tuple[Array, ...]:
        return self.frequencies, self.phases, self.weights, self.update, self.gp.X

    @cached_property
    def _single(self) -> tuple[Floats, ...]:
        return tuple(array.astype(np.float32) for array in self._double)


def draw(gp: GP, rng: Generator, count: int = 1, features: int = FEATURES) -> SamplePaths:
    """Draw `count` paths from the posterior, their prior part made of `features` random cosines."""
    d = gp.X.shape[1]
    frequencies = gp.kernel.spectral_draws(features, d, rng)
    phases = rng.uniform(0.0, 2.0 * np.pi, features)
    weights = np.sqrt(2.0 * gp.kernel.outputscale / features) * rng.standard_normal((count, features))
    noise = np.sqrt(gp.noise + gp.jitter) * rng.standard_normal((count, len(gp.y)))
    prior = weights @ cos_sin(gp.X @ frequencies.T + phases)[0].T  # (S, n)
    update = gp.factor.solve(np.ascontiguousarray((gp.y - prior - noise).T)).T
    return SamplePaths(gp, frequencies, phases, weights, np.ascontiguousarray(update))
