"""Gain per second instead of gain: what AEGiS looks for where time is what evaluations cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from aegisbo.arrays import Array, Floats
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.durations import Durations

SOFTNESS = 0.3  # standard deviations of the outputs: how far above the best value a hope for a gain is given up


@dataclass(frozen=True)
class Quickness:
    """−log of what expected improvement is multiplied by: 1 / seconds."""

    durations: Durations

    def screen(self, Z: Array) -> Array:
        return self.durations.log_seconds(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        return self.durations.log_seconds(Z)


@dataclass(frozen=True)
class GainPerSecond:
    """−log of the gain per second, where the gain is how far a function falls below the best value.

    The gain is softened, log(1 + exp(gain / softness)), so that there is a way to go where nothing is gained.
    """

    function: Acquisition
    best: float
    durations: Durations

    def screen(self, Z: Array) -> Floats:
        value, _ = log_soft((self.best - self.function.screen(Z)) / SOFTNESS)
        return -value + self.durations.log_seconds(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        f, slope = self.function.value_and_gradient(Z)
        value, derivative = log_soft((self.best - f) / SOFTNESS)
        log_seconds, of_time = self.durations.log_seconds(Z)
        return log_seconds - value, of_time + (derivative / SOFTNESS)[:, None] * slope


def log_soft(t: Floats) -> tuple[Array, Array]:
    """log log(1 + exp(t)) (m,), which is about log t for large t and t for small ones, and its derivative."""
    t = np.asarray(t, dtype=np.float64)
    soft = np.logaddexp(0.0, np.maximum(t, -30.0))
    far = t < -30.0
    return np.where(far, t, np.log(soft)), np.where(far, 1.0, expit(t) / soft)
