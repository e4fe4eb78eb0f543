"""Expected improvement and its logarithm, lower confidence bounds, and penalties around pending points.

Everything concerns minimisation: improvement is how far a value falls below `best`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import erfcx, log_ndtr, ndtr

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.blocks import by_blocks

LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))
SMALLEST_VARIANCE = 1e-18  # a standard deviation of 1e-9: nothing is learned by measuring there
LIPSCHITZ_SAMPLES = 500  # as in the authors' code, like the two below
FLAT = 1e-7  # a slope below this says nothing about the function ...
FLAT_LIPSCHITZ = 10.0  # ... and is replaced by this
HARDNESS = -5.0  # power p of PLAyBOOK's cone


def expected_improvement(mu: Array, var: Array, best: float) -> Array:
    """E[max(best − f, 0)] for f ~ N(mu, var), eq. 3."""
    sigma = np.sqrt(np.maximum(var, SMALLEST_VARIANCE))
    z = (best - mu) / sigma
    return np.asarray(sigma * (_density(z) + z * ndtr(z)))


def log_expected_improvement(mu: Array, var: Array, best: float) -> tuple[Array, Array, Array]:
    """log EI and its derivatives in mu and in var; finite however far mu lies above `best`.

    With h(z) = φ(z) + z Φ(z), EI = σ h(z), z = (best − μ)/σ and h' = Φ, so that
    ∂ log EI/∂μ = −Φ/(σ h) and ∂ log EI/∂σ = φ/(σ h).
    """
    sigma = np.sqrt(np.maximum(var, SMALLEST_VARIANCE))
    z = (best - mu) / sigma
    log_h, cdf_by_h, density_by_h = np.where(z > -1.0, _near(np.maximum(z, -1.0)), _tail(np.maximum(-z, 1.0)))
    by_var = np.where(var > SMALLEST_VARIANCE, 0.5 * density_by_h / sigma**2, 0.0)
    return np.log(sigma) + log_h, -cdf_by_h / sigma, by_var


def lower_confidence_bound(mu: Array, var: Array, beta: float) -> Array:
    """μ − β σ: the optimist's guess of the value (UCB in the words of maximisation)."""
    return np.asarray(mu - beta * np.sqrt(var))


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z * z - LOG_SQRT_2PI))


def _near(z: Array) -> Array:
    """log h, Φ/h and φ/h (3, m) where φ(z) and z Φ(z) do not cancel."""
    density, cdf = _density(z), ndtr(z)
    h = density + z * cdf
    return np.stack([np.log(h), cdf / h, density / h])


def _tail(t: Array) -> Array:
    """The same at z = −t: with Mills' ratio m = √(π/2) erfcx(t/√2) and r = 1 − t m, h = φ r and Φ = φ (1 − r)/t."""
    u = 1.0 / t**2
    r = np.where(
        t < 50.0,
        1.0 - t * np.sqrt(np.pi / 2.0) * erfcx(t / np.sqrt(2.0)),
        u * (1.0 - u * (3.0 - u * (15.0 - 105.0 * u))),  # = t⁻² − 3 t⁻⁴ + 15 t⁻⁶ − 105 t⁻⁸ …
    )
    return np.stack([np.log(r) - 0.5 * t * t - LOG_SQRT_2PI, (1.0 / r - 1.0) / t, 1.0 / r])


@dataclass(frozen=True)
class Penalty:
    """A ball around each pending point within which the minimum cannot lie if slopes are at most L.

    At a pending point x_j the function is about μ_j ± σ_j, so it cannot reach `best` closer than
    r_j = |μ_j − best| / L, give or take s_j = σ_j / L.
    """

    P: Array  # (p, d)
    radius: Array  # (p,) r_j
    blur: Array  # (p,) s_j
    hard: bool  # PLAyBOOK's cone, else local penalisation's soft edge

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Σ_j log φ_j (m,), never above 0, and its gradient (m, d)."""
        offsets = Z[:, None, :] - self.P  # (m, p, d)
        distance = np.maximum(np.sqrt(np.einsum("mpd,mpd->mp", offsets, offsets)), 1e-150)
        value, by_distance = self._cone(distance) if self.hard else self._soft_edge(distance)
        return value.sum(axis=1), np.einsum("mp,mpd->md", by_distance / distance, offsets)

    def _soft_edge(self, distance: Array) -> tuple[Array, Array]:
        """log Φ((‖x − x_j‖ − r_j) / s_j), of Gonzalez et al. (2016), and its derivative in the distance."""
        z = (distance - self.radius) / self.blur
        return log_ndtr(z), np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0)) / self.blur  # φ/Φ, also where both vanish

    def _cone(self, distance: Array) -> tuple[Array, Array]:
        """log of ((‖x − x_j‖ / (r_j + s_j))^p + 1)^(1/p), p = −5, of Alvi et al. (2019), and its derivative."""
        log_ratio = np.log(distance / (self.radius + self.blur))
        value = np.logaddexp(HARDNESS * log_ratio, 0.0) / HARDNESS
        return value, 1.0 / (distance * (1.0 + np.exp(-HARDNESS * log_ratio)))


def soft_penalty(gp: GP, P: Array, best: float, rng: Generator) -> Penalty:
    """Local penalisation: one Lipschitz constant for the whole cube."""
    low, high = np.zeros(P.shape[1]), np.ones(P.shape[1])
    return _penalty(gp, P, best, np.full(len(P), lipschitz(gp, low, high, rng)), hard=False)


def hard_penalty(gp: GP, P: Array, best: float, rng: Generator) -> Penalty:
    """PLAyBOOK: a Lipschitz constant for the box of one length scale around each pending point."""
    half = 0.5 * gp.kernel.lengthscale
    constants = [lipschitz(gp, np.maximum(x - half, 0.0), np.minimum(x + half, 1.0), rng) for x in P]
    return _penalty(gp, P, best, np.array(constants), hard=True)


def _penalty(gp: GP, P: Array, best: float, L: Array, *, hard: bool) -> Penalty:
    mu, var = gp.predict(P)
    sigma = np.sqrt(np.maximum(var + gp.noise, 1e-16))
    return Penalty(P, np.abs(mu - best) / L, sigma / L, hard)


def lipschitz(gp: GP, low: Array, high: Array, rng: Generator) -> float:
    """The steepest slope of the posterior mean in a box: sampled, then climbed with exact second derivatives."""
    samples = low + rng.random((LIPSCHITZ_SAMPLES, len(low))) * (high - low)
    slopes = by_blocks(lambda Z: np.linalg.norm(gp.mean_and_gradient(Z)[1], axis=1), samples)

    def descent(x: Array) -> tuple[float, Array]:
        gradient = gp.mean_and_gradient(x[None, :])[1][0]
        norm = float(np.linalg.norm(gradient))
        return -norm, -gp.mean_hessian(x) @ gradient / max(norm, 1e-300)

    climbed = minimize(
        descent, samples[slopes.argmax()], jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True))
    )
    steepest = -float(climbed.fun)
    return steepest if steepest > FLAT else FLAT_LIPSCHITZ
