"""The second witness of model-based tests: scikit-learn's GP at the hyper-parameters that a strategy remembers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from aegisbo.arrays import Array
from aegisbo.strategies.base import Evidence, Memory


@dataclass(frozen=True)
class ForeignGP:
    """The posterior of the paper preset, in the user's units."""

    gp: GaussianProcessRegressor
    center: float
    spread: float
    best: float

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (m,) at Z (m, width)."""
        mu, sigma = self.gp.predict(Z, return_std=True)
        return self.center + self.spread * mu, self.spread * sigma

    def expected_improvement(self, Z: Array) -> Array:
        mu, sigma = self.predict(Z)
        z = (self.best - mu) / sigma
        return sigma * (norm.pdf(z) + z * norm.cdf(z))


def foreign_gp(evidence: Evidence, memory: Memory) -> ForeignGP:
    """Failures get the worst value, values are standardized, the noise is 1e-4 of their variance."""
    X = np.concatenate([evidence.X, evidence.failed])
    y = np.concatenate([evidence.y, [max(evidence.y)] * len(evidence.failed)])
    lengthscale, outputscale = np.exp(memory["phi"])
    kernel = ConstantKernel(outputscale) * Matern(lengthscale, nu=2.5)
    gp = GaussianProcessRegressor(kernel, alpha=1e-4, optimizer=None)
    center, spread = y.mean(), y.std(ddof=1)
    return ForeignGP(gp.fit(X, (y - center) / spread), center, spread, min(evidence.y))


def square_grid(count: int) -> Array:  # (count², 2)
    ticks = np.linspace(0, 1, count)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
