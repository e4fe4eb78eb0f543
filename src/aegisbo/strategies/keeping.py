"""The chance that all limits on what is measured are kept, by a model of each quantity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from aegisbo.arrays import Array, Floats
from aegisbo.gp.posterior import GP
from aegisbo.strategies.normal import log_cdf_and_slope

SHARPEST = 1e-3  # standard deviation, in those of what is measured, so that the chance has a slope


@dataclass(frozen=True)
class Keeping:
    """The chance that all limits are kept, were the quantities independent of each other: ∏_j Φ((t_j − μ_j)/σ_j)."""

    models: tuple[tuple[GP, float], ...]  # of each quantity, and where on its scale the limit is

    def log_value(self, Z: Floats) -> Floats:
        total = np.zeros(len(Z))
        for gp, bound in self.models:
            mu, var = gp.predict(Z.astype(np.float64))
            total += log_ndtr((bound - mu) / np.sqrt(np.maximum(var + gp.noise, SHARPEST**2)))
        return np.asarray(total.astype(Z.dtype))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        total, gradient = np.zeros(len(Z)), np.zeros_like(Z)
        for gp, bound in self.models:
            mu, var, of_mu, of_var = gp.predict_and_gradient(Z)
            spread = np.sqrt(np.maximum(var + gp.noise, SHARPEST**2))
            z = (bound - mu) / spread
            value, slope = log_cdf_and_slope(z)
            changing = var + gp.noise > SHARPEST**2
            of_spread = np.where(changing, 0.5 * z / spread, 0.0)
            total += value
            gradient -= (slope / spread)[:, None] * (of_mu + of_spread[:, None] * of_var)
        return total, gradient
