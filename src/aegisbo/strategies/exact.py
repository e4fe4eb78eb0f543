"""An objective that follows from the point: its function is asked, and nothing is modelled.

Where the function has no value an evaluation would end without one. Such a point counts as worse than all others, so
that it adds nothing to a front.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array, Floats
from aegisbo.gp.output_transform import OutputScale, soft_scale_of
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence, FunctionOfPoints
from aegisbo.strategies.chance import Chance, Weighed
from aegisbo.strategies.law import Law, normal_law

STEP = 1e-6  # of finite differences, in sides of the cube
WORSE = 10.0  # standard deviations by which no value is worse than the worst one measured


@dataclass(frozen=True)
class ExactFunction:
    """A function on its standardized scale, with the methods of a posterior that is certain."""

    known: FunctionOfPoints
    scale: OutputScale
    cube: Cube
    worst: float

    def mean(self, Z: Floats) -> Array:
        """Its values (m,) at Z (m, width)."""
        values = self.known(Z.astype(np.float64, copy=False))
        there = np.isfinite(values)
        return np.where(there, self.scale.standardized(np.where(there, values, 0.0)), self.worst)

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Its values (m,) at Z (m, width), and their variances, which are 0."""
        return self.mean(Z), np.zeros(len(Z))

    def mean_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Its values (m,) and their finite differences (m, width), which are 0 along levels and choices."""
        moved = [self._moved(Z, columns.start) for columns in self._continuous]
        values, *others = self.mean(np.vstack([Z, *moved])).reshape(-1, len(Z))
        gradient = np.zeros_like(Z)
        for columns, there, other in zip(self._continuous, moved, others, strict=True):
            usable = (values < self.worst) & (other < self.worst)
            step = there[:, columns.start] - Z[:, columns.start]
            gradient[:, columns.start] = np.where(usable, (other - values) / step, 0.0)
        return values, gradient

    @property
    def _continuous(self) -> list[slice]:
        pairs = zip(self.cube.axes, self.cube.columns, strict=True)
        return [columns for axis, columns in pairs if isinstance(axis, Continuous)]

    def _moved(self, Z: Array, column: int) -> Array:
        """The points a step away along a coordinate, towards the middle of the cube."""
        moved = Z.copy()
        moved[:, column] += np.where(Z[:, column] < 0.5, STEP, -STEP)
        return moved


@dataclass(frozen=True)
class Exact(Weighed):
    """What is believed of an objective that follows from the point: its value."""

    gp: ExactFunction
    best: float  # lowest value measured that keeps all limits, standardized
    success: Chance | None = None
    keeping: Chance | None = None

    @property
    def scale(self) -> OutputScale:
        """From measured to standardized values."""
        return self.gp.scale

    @property
    def exploring(self) -> Exact:
        """What to tell of any point."""
        return self

    @property
    def alone(self) -> Exact:
        """What a choice was made from."""
        return self

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """The values (m,) at Z (m, width), standardized, and their standard deviations, which are 0."""
        return self.gp.predict(Z)

    def law(self, Z: Array) -> Law:
        """The values at Z (m, width), which are certain."""
        return normal_law(self.scale, *self.predict(Z))

    def smoothed(self, X: Array) -> Array:
        """The values (n,) at X (n, width), in the user's units."""
        return self.scale.measured(self.gp.mean(X))

    def expected(self, x: Array) -> tuple[float, float]:
        """The value at x (width,) in the user's units, and its standard deviation, which is 0."""
        return float(self.smoothed(x[None, :])[0]), 0.0


def exact_of(evidence: Evidence) -> tuple[Exact | None, ...]:
    """What is believed of each objective that follows from the point; None of the others."""
    known = evidence.known or (None,) * len(evidence.each)
    pairs = zip(known, evidence.each, strict=True)
    return tuple(None if function is None else _exact(function, alone) for function, alone in pairs)


def _exact(known: FunctionOfPoints, evidence: Evidence) -> Exact:
    scale = soft_scale_of(evidence.y)
    y = scale.standardized(evidence.y)
    counting = y[evidence.kept] if evidence.kept.any() else y
    return Exact(ExactFunction(known, scale, evidence.cube, float(y.max()) + WORSE), float(counting.min()))
