"""The chance that an evaluation succeeds, and what a move minimizes where it may fail.

A failure counts as the worst value measured: where an evaluation succeeds with the chance p, a move that minimizes f
minimizes p f + (1 − p) worst instead. One that maximizes an improvement maximizes p times it (`product`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist

from aegisbo.arrays import Array, Floats
from aegisbo.search.inner_search import Acquisition

REACH = 0.05  # of a single failure, in units of the cube's diagonal
LEAST = 1e-9  # a chance is never less, so that its logarithm stays finite


class Chance(Protocol):
    """The chance that something goes well, anywhere in the cube."""

    def log_value(self, Z: Floats) -> Floats:
        """log p (m,) at Z (m, width), in the precision of Z."""

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """log p (m,) and its gradient (m, width) at Z (m, width)."""


@dataclass(frozen=True)
class NearFailures:
    """A chance that falls to nothing at each failure, and is 1 away from all of them: ∏_j 1 − exp(−½ r_j²/ρ²)."""

    failed: Array  # (f, width)

    def log_value(self, Z: Floats) -> Floats:
        return np.asarray(self.log_value_and_gradient(Z.astype(np.float64))[0].astype(Z.dtype))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        square = REACH**2 * Z.shape[1]  # ρ²
        missed = np.maximum(-np.expm1(-0.5 * cdist(Z, self.failed, "sqeuclidean") / square), LEAST)  # (m, f)
        weights = (1.0 / missed - 1.0) / square
        return np.log(missed).sum(axis=1), weights.sum(axis=1)[:, None] * Z - weights @ self.failed


@dataclass(frozen=True)
class AllOf:
    """The chance that several things go well, were they independent of each other."""

    chances: tuple[Chance, ...]

    def log_value(self, Z: Floats) -> Floats:
        return np.asarray(sum(chance.log_value(Z) for chance in self.chances))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = zip(*(chance.log_value_and_gradient(Z) for chance in self.chances), strict=True)
        return np.asarray(sum(values)), np.asarray(sum(gradients))


def both(one: Chance | None, other: Chance | None) -> Chance | None:
    """The chance that two things go well, where None stands for certainty."""
    return one or other if one is None or other is None else AllOf((one, other))


class Weighed:
    """What counts beside the values at a point: chances, and what the user has guessed."""

    success: Chance | None  # None if nothing has failed, or a failure is a bad value to the model
    keeping: Chance | None  # the chance to keep all limits on what is measured; None if there are none
    tilt: Chance | None = None  # towards what the user has guessed; None if that is nothing

    @property
    def chance(self) -> Chance | None:
        """The chance that an evaluation succeeds and keeps all limits; None if it certainly does."""
        return both(self.success, self.keeping)

    @property
    def factor(self) -> Chance | None:
        """By which what a point promises is multiplied: the chance, and what the user has guessed."""
        return both(self.chance, self.tilt)


@dataclass(frozen=True)
class Expected:
    """A function to be minimized, where a failure counts as `worst`."""

    objective: Acquisition
    chance: Chance
    worst: float

    def screen(self, Z: Array) -> Floats:
        p = np.exp(self.chance.log_value(Z.astype(np.float32)))
        return np.asarray(self.worst + p * (self.objective.screen(Z) - self.worst))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        log_p, slopes = self.chance.log_value_and_gradient(Z)
        p = np.exp(log_p)
        value, gradient = self.objective.value_and_gradient(Z)
        above = value - self.worst
        return self.worst + p * above, p[:, None] * (gradient + above[:, None] * slopes)
