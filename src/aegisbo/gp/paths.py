"""Functions drawn from a GP posterior by decoupled sampling (Wilson et al., 2020).

A path is a draw from the prior, in weight space, plus the correction that makes it agree with the data, in function
space:

    g(x) = √(2s/F) Σ_j [u_j cos(ω_j·x) + v_j sin(ω_j·x)]  +  k(x, X) K⁻¹ (y − g_prior(X) − e),

with u, v ~ N(0, I) and e ~ N(0, noise I + diag(extra)). The F features are cosines and sines of F/2 frequencies, so the
prior's variance is s everywhere and for any frequencies. In one path each pair is a single wave, u cos θ + v sin θ =
a cos(θ + τ) with a = √(u² + v²), τ = −arctan(v/u): half as much to compute.

Everything random is drawn once, so a path is a fixed function: the same point gives the same value twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.gp.kernels import matern52_and_slope
from aegisbo.gp.main_effects import waves
from aegisbo.gp.posterior import GP
from aegisbo.gp.sparse_points import WIDE, sparse, waves_and_slopes_at, waves_at
from aegisbo.gp.trigonometry import cos_sin
from aegisbo.search.blocks import by_blocks

FEATURES = 2000  # as in the paper
DATA_ROWS = 20  # data points at a time in a draw: a thousand waves at each of them stay in the cache


@dataclass(frozen=True)
class SamplePaths:
    """S functions from one posterior. They share frequencies but not waves, and are independent given those."""

    gp: GP
    frequencies: Array  # (F/2, d)
    phases: Array  # (S, F/2)
    amplitudes: Array  # (S, F/2)
    update: Array  # (S, n) weights of k(x, X)
    effects: Array | None = None  # (S, B d) weights of the main effects' waves, those of the update included

    def __call__(self, Z: Floats) -> Floats:
        """Values (S, m) at Z (m, d); single-precision Z is answered in single precision."""
        waves_of_prior, amplitudes, update = self._single if Z.dtype == np.float32 else self._double
        Z1 = np.column_stack([Z, np.ones(len(Z), Z.dtype)])
        few, prior = sparse(Z1) if Z.shape[1] >= WIDE else None, []
        for wave, amplitude in zip(waves_of_prior, amplitudes, strict=True):
            angles = (Z1 if few is None else few) @ wave  # (m, F/2)
            prior.append(np.cos(angles, out=angles) @ amplitude)
        values = np.stack(prior) + update @ self.gp.joint_covariances(Z)
        if self.effects is not None:
            values += waves_at(Z).weighted(self.effects.astype(Z.dtype, copy=False))
        return np.asarray(values + Z.dtype.type(self.gp.constant) if self.gp.constant else values)

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (S, m) and gradients (S, m, d) at Z (m, d)."""
        kernel, X = self.gp.kernel, self.gp.X
        correlations, slopes = matern52_and_slope(self.gp.squared_distances(Z))  # (n, m)
        values = kernel.outputscale * (self.update @ correlations)
        gradients = np.stack([kernel.weighted_gradient(Z, X, slopes.T, weights) for weights in self.update])
        angles = Z @ self.frequencies.T  # (m, F/2)
        for i, (phases, amplitudes) in enumerate(zip(self.phases, self.amplitudes, strict=True)):
            cosines, sines = cos_sin(angles + phases)
            values[i] += cosines @ amplitudes
            sines *= amplitudes
            gradients[i] -= sines @ self.frequencies
        if self.effects is not None:
            phi = waves_and_slopes_at(Z)
            values += phi.weighted(self.effects)
            for gradient, weights in zip(gradients, self.effects, strict=True):
                gradient += phi.slopes(weights)
        return values + self.gp.constant, gradients

    @property
    def _double(self) -> tuple[Array, Array, Array]:
        # The phase is one more row of the frequencies, which meets a column of ones: one pass over the waves fewer.
        waves = [np.vstack([self.frequencies.T, phases]) for phases in self.phases]
        return np.stack(waves), self.amplitudes, self.update

    @cached_property
    def _single(self) -> tuple[Floats, ...]:
        # Sparse points pick single rows of the waves, which are then best in one piece each.
        order: Literal["C", "K"] = "C" if self.frequencies.shape[1] >= WIDE else "K"
        return tuple(array.astype(np.float32, order=order) for array in self._double)


def draw(gp: GP, rng: Generator, count: int = 1, features: int = FEATURES) -> SamplePaths:
    """Draw `count` paths from the posterior, their prior part made of `features` random cosines and sines."""
    pairs = features // 2
    frequencies = gp.kernel.spectral_draws(pairs, gp.X.shape[1], rng)
    u, v = np.sqrt(gp.kernel.outputscale / pairs) * rng.standard_normal((2, count, pairs))
    variance = gp.noise + gp.factor.jitter + (0.0 if gp.extra is None else gp.extra)
    noise = np.sqrt(variance) * rng.standard_normal((count, len(gp.y)))

    def prior_at(X: Array) -> Array:  # (m, d) -> (m, S)
        cosines, sines = cos_sin(X @ frequencies.T)  # (m, F/2)
        return np.asarray((u @ cosines.T + v @ sines.T).T)

    prior = by_blocks(prior_at, gp.X, DATA_ROWS).T  # (S, n)
    effects = None
    if gp.effects is not None:
        effects = np.sqrt(gp.effects.variances) * rng.standard_normal((count, len(gp.effects.variances)))
        prior += effects @ waves(gp.X)
    update = np.ascontiguousarray(gp.factor.solve(np.ascontiguousarray((gp.y - prior - noise).T)).T)
    if effects is not None:
        effects += update @ gp.weighted_waves.T
    return SamplePaths(gp, frequencies, np.arctan2(-v, u), np.hypot(u, v), update, effects)
