"""Expected improvement, in logarithms.

Everything is minimized: improvement is how far a value falls below `best`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, ndtr

from aegisbo.arrays import Array
from aegisbo.gp.quadratic_model import Posterior

LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))
SMALLEST_VARIANCE = 1e-18  # a standard deviation of 1e-9: nothing is learned by measuring there


def log_expected_improvement(mu: Array, var: Array, best: float | Array) -> tuple[Array, Array, Array]:
    """log EI and its derivatives in mu and in var; finite however far mu lies above `best`.

    With h(z) = φ(z) + z Φ(z), EI = σ h(z), z = (best − μ)/σ and h' = Φ, so that
    ∂ log EI/∂μ = −Φ/(σ h) and ∂ log EI/∂σ = φ/(σ h).
    """
    sigma = np.sqrt(np.maximum(var, SMALLEST_VARIANCE))
    z = (best - mu) / sigma
    log_h, cdf_by_h, density_by_h = _by_h(z)
    by_var = np.where(var > SMALLEST_VARIANCE, 0.5 * density_by_h / sigma**2, 0.0)
    return np.log(sigma) + log_h, -cdf_by_h / sigma, by_var


def _by_h(z: Array) -> tuple[Array, Array, Array]:
    """log h, Φ/h and φ/h (m,) at z (m,)."""
    near = z > -1.0
    if near.all():  # as in many a descent
        return _near(z)
    if not near.any():
        return _tail(-z)
    either = zip(_near(np.maximum(z, -1.0)), _tail(np.maximum(-z, 1.0)), strict=True)
    log_h, cdf_by_h, density_by_h = (np.where(near, one, other) for one, other in either)
    return log_h, cdf_by_h, density_by_h


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z * z - LOG_SQRT_2PI))


def _near(z: Array) -> tuple[Array, Array, Array]:
    """log h, Φ/h and φ/h where φ(z) and z Φ(z) do not cancel."""
    density, cdf = _density(z), ndtr(z)
    h = density + z * cdf
    return np.log(h), cdf / h, density / h


def _tail(t: Array) -> tuple[Array, Array, Array]:
    """log h, Φ/h and φ/h at z = −t, where they nearly do.

    With Mills' ratio m = √(π/2) erfcx(t/√2) and r = 1 − t m, h = φ r and Φ = φ (1 − r)/t.
    """
    u = 1.0 / t**2
    r = np.where(
        t < 50.0,
        1.0 - t * np.sqrt(np.pi / 2.0) * erfcx(t / np.sqrt(2.0)),
        u * (1.0 - u * (3.0 - u * (15.0 - 105.0 * u))),  # = t⁻² − 3 t⁻⁴ + 15 t⁻⁶ − 105 t⁻⁸ …
    )
    return np.log(r) - 0.5 * t * t - LOG_SQRT_2PI, (1.0 / r - 1.0) / t, 1.0 / r


@dataclass(frozen=True)
class Improvement:
    """−log of expected improvement, which has the same maximizers but is never flat far from the best."""

    gp: Posterior
    best: float

    def screen(self, Z: Array) -> Array:
        """In double precision: a variance is a small difference of large numbers."""
        return -log_expected_improvement(*self.gp.predict(Z), self.best)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        mu, var, grad_mu, grad_var = self.gp.predict_and_gradient(Z)
        value, by_mu, by_var = log_expected_improvement(mu, var, self.best)
        return -value, -(by_mu[:, None] * grad_mu + by_var[:, None] * grad_var)
