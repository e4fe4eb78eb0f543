"""How choices lean towards what the user has guessed: π^γ is a factor of what each point is worth.

That is πBO (Hvarfner et al., 2022), with γ = β/n after n values. Here γ = β/(n √k), where k parameters are guessed:
log π is a sum over them, and with many a wrong guess would rule for long. Where a move maximizes a product, π^γ is one
more factor. Where it minimizes a function f of the model, as the mean or a sample path, it minimizes f − γ σ log(π/π*)
instead, with π* at the best point: to the first order, what the factor does to expected improvement. Nothing changes
where the model is sure, or where a point was guessed as much as the best one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from aegisbo.arrays import Array, Floats
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import Acquisition
from aegisbo.space.guess import Guess
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.log_expected_improvement import SMALLEST_VARIANCE

STRENGTH = 10.0  # β: docs/experiments/guesses.md


@dataclass(frozen=True)
class Tilt:
    """What a point is worth by the guess alone, with the methods of a `Chance`."""

    guess: Guess
    power: float  # γ

    def log_value(self, Z: Floats) -> Floats:
        return np.asarray(Z.dtype.type(self.power) * self.guess.log_value(Z))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        value, gradient = self.guess.log_value_and_gradient(Z)
        return self.power * value, self.power * gradient


def tilt_of(evidence: Evidence) -> Tilt | None:
    """How choices lean after all values; None if nothing is guessed."""
    guess = evidence.cube.guess
    return None if guess is None else Tilt(guess, STRENGTH / max(len(evidence.y), 1) / sqrt(guess.parameters))


@dataclass(frozen=True)
class Tilted:
    """A function of the model, lowered where the guess is nearer than at the best point, by standard deviations."""

    function: Acquisition
    tilt: Tilt
    gp: GP
    best: Array  # (1, width)

    @cached_property
    def _there(self) -> float:
        return float(self.tilt.log_value(self.best)[0])

    def screen(self, Z: Array) -> Floats:
        spread = np.sqrt(np.maximum(self.gp.predict(Z)[1], SMALLEST_VARIANCE))
        return np.asarray(self.function.screen(Z) - spread * (self.tilt.log_value(Z) - self._there))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        value, gradient = self.function.value_and_gradient(Z)
        _, variance, _, of_variance = self.gp.predict_and_gradient(Z)
        spread = np.sqrt(np.maximum(variance, SMALLEST_VARIANCE))
        slope = np.where(variance > SMALLEST_VARIANCE, 0.5 / spread, 0.0)[:, None] * of_variance
        leaning, of_leaning = self.tilt.log_value_and_gradient(Z)
        leaning = leaning - self._there
        return value - spread * leaning, gradient - spread[:, None] * of_leaning - leaning[:, None] * slope
