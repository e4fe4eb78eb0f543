"""A quadratic model of the lowest points, in coordinates in which they are equally wide in all directions.

Far from a minimum its quadratic shape does not matter, and near it nothing else does. The lowest points are moved and
turned as their own covariance says, so that a long and narrow valley looks round (the idea of CMA-ES). Their values are
taken as measured. What is known of other points near them is only that they are not lower: a point above counts as the
model of the low ones predicts it, but not as lower than the highest of these (reGP, Petit et al., 2025). Points farther
away, also pending ones, do not count: they lie hundreds of units away from a narrow valley, where a quadratic is huge.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular

from aegisbo.arrays import Array, Index, Mask
from aegisbo.gp import quadratic_model
from aegisbo.gp.low_values import MOST, lowest, skill
from aegisbo.gp.output_transform import Scale, scale_of
from aegisbo.search.blocks import by_blocks
from aegisbo.search.near_best import race
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.log_expected_improvement import Improvement

ENOUGH = 1.5  # lowest points for each coefficient of a quadratic
HIGHER = 150  # points above the lowest ones at most, the nearest
NEAR = 2.0  # how far from the best point they may lie, where the lowest points lie about 1 away
ROUND = 1e-4  # how much of a ball the covariance of the lowest points is mixed with, for each dimension a point
REACH = 0.8  # how far a choice may lie from the best point, in the units of `NEAR`
BOX = 2.0  # half of a side of the box that is searched, in the units of `REACH`
STRICT = 10.0  # how much it costs to go beyond the reach
CANDIDATES = 100  # for each parameter
CANDIDATE_SPREADS = (0.01, 1.0)  # standard deviations; any order of magnitude is as likely
LOCAL_STARTS = 6  # candidates that are raced


@dataclass(frozen=True)
class Neighborhood:
    """Coordinates around the best point: x = center + axes u."""

    center: Array  # (d,)
    axes: Array  # (d, d), lower triangular

    def local(self, X: Array) -> Array:
        """u (m, d) of X (m, d)."""
        return np.asarray(solve_triangular(self.axes, (X - self.center).T, lower=True).T)

    def turned(self, gradients: Array) -> Array:
        """Gradients in x (m, d) of gradients in u (m, d)."""
        return np.asarray(solve_triangular(self.axes, gradients.T, lower=True, trans=1).T)

    @property
    def widths(self) -> Array:
        """How wide it is along each coordinate of the cube (d,)."""
        return np.asarray(np.sqrt((self.axes**2).sum(axis=1)))


def neighborhood_of(lowest: Array) -> Neighborhood:
    """Where the lowest points (n, d) lie, the lowest of all first, which becomes the center."""
    n, d = lowest.shape
    weights = np.log(n + 0.5) - np.log(np.arange(1, n + 1))  # the lowest count most
    away = lowest - lowest[0]
    covariance = (away.T * weights / weights.sum()) @ away
    width = float(np.trace(covariance)) / d + 1e-24
    share = ROUND * min(d / n, 1.0)
    return Neighborhood(lowest[0], np.linalg.cholesky((1.0 - share) * covariance + share * width * np.eye(d)))


@dataclass(frozen=True)
class LocalImprovement:
    """−log expected improvement in a neighborhood, times the chance to succeed, with a slope outside that leads back.

    It is a function of v, which says where in a box around the neighborhood a point lies: there a search sees a round
    valley, however narrow it is on the cube. Where the box leaves the cube, v means the nearest point of the cube.
    """

    neighborhood: Neighborhood
    improvement: Improvement
    chance: Chance | None = None

    def at(self, V: Array) -> Array:
        """The points of the cube (m, d) that V (m, d) means."""
        return np.clip(self._meant(V), 0.0, 1.0)

    def screen(self, V: Array) -> Array:
        X = self.at(V)
        U = self.neighborhood.local(X)
        risk = 0.0 if self.chance is None else -self.chance.log_value(X)
        return np.asarray(self.improvement.screen(U) + STRICT * _beyond(U)[0] + risk)

    def value_and_gradient(self, V: Array) -> tuple[Array, Array]:
        meant, X = self._meant(V), self.at(V)
        U = self.neighborhood.local(X)
        values, gradients = self.improvement.value_and_gradient(U)
        cost, cost_gradients = _beyond(U)
        values, of_cube = values + STRICT * cost, self.neighborhood.turned(gradients + STRICT * cost_gradients)
        if self.chance is not None:
            log_p, slopes = self.chance.log_value_and_gradient(X)
            values, of_cube = values - log_p, of_cube - slopes
        inside = (meant >= 0.0) & (meant <= 1.0)
        return values, 2.0 * self._side * (inside * of_cube) @ self.neighborhood.axes

    @property
    def _side(self) -> float:
        return float(BOX * len(self.neighborhood.center) ** 0.5)

    def _meant(self, V: Array) -> Array:
        return np.asarray(self.neighborhood.center + self._side * (2.0 * V - 1.0) @ self.neighborhood.axes.T)

    def boxed(self, U: Array) -> Array:
        """v (m, d) of u (m, d)."""
        return np.clip(0.5 + 0.5 * U / self._side, 0.0, 1.0)


def _beyond(U: Array) -> tuple[Array, Array]:
    """The squared distance (m,) beyond the reach, and its gradient (m, d)."""
    d = U.shape[1]
    radius = np.sqrt((U**2).sum(axis=1) / d)
    beyond = np.maximum(radius - REACH, 0.0)
    return beyond**2, (2.0 * beyond / np.maximum(radius, REACH) / d)[:, None] * U


@dataclass(frozen=True)
class LocalModel:
    """A model of the lowest points."""

    neighborhood: Neighborhood
    scale: Scale
    low: Index  # the rows of the evidence that it has seen, the lowest first
    gp: quadratic_model.QuadraticGP

    def skill(self, measured: Array) -> float:
        """How well it predicts the lowest of the values measured (n,)."""
        count = len(lowest(measured, self.gp.X.shape[1]))
        return skill(self.gp, self.scale, measured[self.low], np.arange(min(count, len(self.low))))

    def gain(self, objective: LocalImprovement, x: Array) -> float:
        """How far below the best value measured the prediction at x (width,) lies, in the units of the values."""
        u = self.neighborhood.local(x[None, :])
        predicted, best = float(objective.improvement.gp.predict(u)[0][0]), float(self.gp.y.min()) + self.gp.constant
        return (best - predicted) * self.scale.low_unit

    def improvement(self, evidence: Evidence, chance: Chance | None = None) -> LocalImprovement:
        """What is left to gain near the best point if all pending points turn out as predicted."""
        y = self.scale.standardized(evidence.y)
        high = np.setdiff1d(np.arange(len(y)), self.low)
        failed = evidence.failed[: 0 if chance is not None else None]  # bad values, unless a chance is known
        above = self.neighborhood.local(np.vstack([evidence.X[high], failed]))
        measured = np.append(y[high], np.full(len(failed), np.inf))
        nearest = np.argsort((above**2).sum(axis=1), kind="stable")[:HIGHER]
        near = nearest[_is_near(above[nearest])]
        gp = self.gp.extended(above[near], np.clip(self.gp.mean(above[near]), y[self.low[-1]], measured[near]))
        pending = self.neighborhood.local(evidence.pending)
        gp = gp.believing(pending[_is_near(pending)])
        return LocalImprovement(self.neighborhood, Improvement(gp, float(gp.y.min()) + gp.constant), chance)


def _is_near(U: Array) -> Mask:
    """Which of U (m, d) count (m,)."""
    return np.asarray((U**2).mean(axis=1) < NEAR**2)


def local_model(evidence: Evidence, warm: Array | None = None) -> LocalModel:
    """A model of the lowest points, its hyper-parameters learned afresh or from earlier ones (3,)."""
    n, d = evidence.X.shape
    low = np.argsort(evidence.y, kind="stable")[: min(n, ceil(ENOUGH * (d + 1) * (d + 2) / 2), MOST)]
    neighborhood = neighborhood_of(evidence.X[low])
    scale = scale_of(evidence.y[low])
    gp = quadratic_model.fit(neighborhood.local(evidence.X[low]), scale.standardized(evidence.y[low]), warm)
    return LocalModel(neighborhood, scale, low, gp)


def search_near(objective: LocalImprovement, cube: Cube, rng: Generator) -> Array:
    """Where most can be gained: choices (k, width), rounded to what can be evaluated, the best first."""
    count = CANDIDATES * cube.parameters
    shortest, longest = np.log(CANDIDATE_SPREADS)
    steps = np.exp(rng.uniform(shortest, longest, size=(count, 1)))
    candidates = objective.boxed(steps * rng.standard_normal((count, cube.width)))
    values = by_blocks(objective.screen, candidates)
    return cube.round(objective.at(race(objective, candidates[np.argsort(values, kind="stable")[:LOCAL_STARTS]])))
