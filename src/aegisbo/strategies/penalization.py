"""Local penalization (Gonzalez et al., 2016) and PLAyBOOK (Alvi et al., 2019): keep away from pending points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.blocks import by_blocks
from aegisbo.search.descent import descend_each
from aegisbo.space.cube import ABSENT
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.normal import log_cdf_and_slope

# These three are those of the authors' code.
LIPSCHITZ_SAMPLES = 500
LEAST_SLOPE = 1e-7  # a slope below this says nothing about the function
DEFAULT_LIPSCHITZ = 10.0  # stands for a slope that says nothing
HARDNESS = -5.0  # power p of PLAyBOOK's cone


@dataclass(frozen=True, kw_only=True)
class LocalPenalization(ExpectedImprovement):
    """Expected improvement times a soft edge around each pending point, one Lipschitz constant for all."""

    move = "local-penalization"

    def penalty(self, belief: Belief, pending: Array, rng: Generator) -> Penalty:
        """The soft edges."""
        return soft_penalty(belief.gp, pending, belief.best, rng)


@dataclass(frozen=True, kw_only=True)
class Playbook(ExpectedImprovement):
    """Expected improvement times a cone around each pending point, with the Lipschitz constant found near it."""

    move = "playbook"

    def penalty(self, belief: Belief, pending: Array, rng: Generator) -> Penalty:
        """The cones."""
        return hard_penalty(belief.gp, pending, belief.best, rng)


@dataclass(frozen=True)
class Penalty:
    """−log of a ball around each pending point within which the minimum cannot lie if slopes are at most L.

    At a pending point x_j the function is about μ_j ± σ_j, so it cannot reach `best` closer than
    r_j = |μ_j − best| / L, give or take s_j = σ_j / L.
    """

    P: Array  # (p, d)
    radius: Array  # (p,) r_j
    blur: Array  # (p,) s_j
    hard: bool  # PLAyBOOK's cone, else local penalization's soft edge

    def screen(self, Z: Array) -> Array:
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """−Σ_j log φ_j (m,), never below 0, and its gradient (m, d), at Z (m, d)."""
        offsets = Z[:, None, :] - self.P  # (m, p, d)
        distance = np.maximum(np.sqrt(np.einsum("mpd,mpd->mp", offsets, offsets)), 1e-150)
        value, by_distance = self._cone(distance) if self.hard else self._soft_edge(distance)
        return -value.sum(axis=1), -np.einsum("mp,mpd->md", by_distance / distance, offsets)

    def _soft_edge(self, distance: Array) -> tuple[Array, Array]:
        """log Φ((‖x − x_j‖ − r_j) / s_j), of Gonzalez et al. (2016), and its derivative in the distance."""
        z = (distance - self.radius) / self.blur
        value, slope = log_cdf_and_slope(z)
        return value, slope / self.blur

    def _cone(self, distance: Array) -> tuple[Array, Array]:
        """log of ((‖x − x_j‖ / (r_j + s_j))^p + 1)^(1/p), p = −5, of Alvi et al. (2019), and its derivative."""
        log_ratio = np.log(distance / (self.radius + self.blur))
        value = np.logaddexp(HARDNESS * log_ratio, 0.0) / HARDNESS
        return value, 1.0 / (distance * (1.0 + np.exp(-HARDNESS * log_ratio)))


def soft_penalty(gp: GP, P: Array, best: float, rng: Generator) -> Penalty:
    """Local penalization: one Lipschitz constant for the whole cube."""
    low, high = np.zeros((1, P.shape[1])), np.ones((1, P.shape[1]))
    return _penalty(gp, P, best, lipschitz(gp, low, high, rng), hard=False)


def hard_penalty(gp: GP, P: Array, best: float, rng: Generator) -> Penalty:
    """PLAyBOOK: a Lipschitz constant for the box of one length scale around each pending point."""
    half = 0.5 * gp.kernel.lengthscale
    absent = P == ABSENT  # what is not there stays so
    low, high = (np.where(absent, P, np.clip(P + side, 0.0, 1.0)) for side in (-half, half))
    return _penalty(gp, P, best, lipschitz(gp, low, high, rng), hard=True)


def _penalty(gp: GP, P: Array, best: float, L: Array, *, hard: bool) -> Penalty:
    mu, var = gp.predict(P)
    sigma = np.sqrt(np.maximum(var + gp.noise, 1e-16))
    return Penalty(P, np.abs(mu - best) / L, sigma / L, hard)


def lipschitz(gp: GP, low: Array, high: Array, rng: Generator) -> Array:  # -> (k,)
    """The steepest slope of the posterior mean in each box from `low` to `high` (k, d): sampled, then climbed."""
    k, d = low.shape
    samples = low[:, None, :] + rng.random((k, LIPSCHITZ_SAMPLES, d)) * (high - low)[:, None, :]
    slopes = by_blocks(lambda Z: np.linalg.norm(gp.mean_and_gradient(Z)[1], axis=1), samples.reshape(-1, d))
    starts = samples[np.arange(k), slopes.reshape(k, -1).argmax(axis=1)]  # (k, d)

    def down(Z: Array) -> tuple[Array, Array]:
        slope, gradient = gp.steepness(Z)
        return -slope, -gradient

    tops = descend_each(down, starts, np.stack([low, high], axis=2))
    steepest = np.array([-top.value for top in tops])
    return np.where(steepest > LEAST_SLOPE, steepest, DEFAULT_LIPSCHITZ)
