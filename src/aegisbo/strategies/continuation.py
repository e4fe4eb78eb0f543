"""How a run may go on: functions drawn from all models that its results leave open, each searched on from here.

A simulated run of the strategy itself takes a fit and a search for every point, which for one chance are minutes
(docs/experiments/odds.md). Here the points that it may come to are computed once: the low points of all functions
drawn. On them a posterior is cheap to extend, and a continuation takes those of the greatest expected improvement. All
continuations take their steps together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from aegisbo.arrays import Array, Index, Mask
from aegisbo.gp.output_transform import OutputScale
from aegisbo.gp.paths import draw
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import InnerSearch
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.moves.thompson import PathToSearch

FUNCTIONS = 32  # drawn
LOW = 6  # points of each that any continuation may come to
FEATURES = 1000  # waves of a function
SLIGHT = 1e-9  # variance that is as good as none


@dataclass(frozen=True)
class Continuations:
    """How low runs get that go on."""

    before: Array  # (r,) the best level before, as measured, to be minimized
    lowest: Array  # (r, n) the best level after each further evaluation

    def chances(self, amount: float) -> Array:
        """The share (n,) of those that have become better by more than an amount, after each evaluation."""
        return np.asarray((self.gained > amount).mean(axis=0))

    @property
    def gained(self) -> Array:  # (r, n)
        """By how much they have become better."""
        with np.errstate(over="ignore"):  # beyond the largest float
            return self.before[:, None] - self.lowest


@dataclass(frozen=True)
class Model:
    """One that the results leave open."""

    scale: OutputScale
    gp: GP


def continuations(
    belief: Belief, evidence: Evidence, search: InnerSearch, count: int, workers: int, rng: Generator
) -> Continuations:
    """Continuations of `count` evaluations with so many workers; pending points come first.

    A function agrees with the results as far as its model takes them for exact. With noise, it is its own values that
    count, and the best so far is what it is at the best point.
    """
    models, weights = models_of(belief)
    which = rng.choice(len(models), FUNCTIONS, p=weights)
    paths = [draw(models[k].gp, rng, features=FEATURES) for k in which]
    good = belief.good_points()
    found = [search(PathToSearch(path), evidence.cube, rng, good)[:LOW] for path in paths]
    Z, pending = _places(np.vstack(found), evidence)
    noise = np.sqrt([models[k].gp.noise for k in which])[:, None]
    values = np.array([path(Z)[0] for path in paths])
    told = values + noise * rng.standard_normal(values.shape)
    if evidence.noisy:
        levels, best = values, np.array([float(path(good[:1])[0, 0]) for path in paths])
    else:
        measured = evidence.y[evidence.kept].min(keepdims=True)
        levels, best = told, np.array([float(models[k].scale.standardized(measured)[0]) for k in which])
    good_ones = np.ones(len(Z)) if belief.chance is None else np.exp(belief.chance.log_value(Z))
    counts = rng.random(values.shape) < good_ones
    run = Runs(
        means=np.array([models[k].gp.mean(Z) for k in range(len(models))]),
        covariances=[models[k].gp.covariance(Z, Z) if k in which else None for k in range(len(models))],
        which=which,
        told=told,
        counts=counts,
        noise=noise[:, 0] ** 2,
        best=best,
        success=good_ones,
    )
    steps = run.steps(min(count, len(Z)), pending, workers)
    rows = np.arange(FUNCTIONS)[:, None]
    reached = np.where(counts[rows, steps], levels[rows, steps], np.inf)
    lowest = np.minimum.accumulate(np.column_stack([best, reached]), axis=1)
    after = np.minimum(np.arange(count) + 1, steps.shape[1])  # where all points are known, nothing more is gained
    measured_levels = np.array([models[k].scale.measured(row) for k, row in zip(which, lowest, strict=True)])
    return Continuations(measured_levels[:, 0], measured_levels[:, after])


def models_of(belief: Belief) -> tuple[list[Model], Array]:
    """The models and their weights: how well each has predicted the results around the best point."""
    if belief.told is None:
        return [Model(belief.scale, belief.gp)], np.ones(1)
    weights = belief.told.law(belief.good_points()[:1]).weight[:, 0]
    return [Model(each.scale, each.gp) for each in belief.told.candidates], weights / weights.sum()


def _places(low: Array, evidence: Evidence) -> tuple[Array, int]:
    """The points (m, width) that a run may come to, the pending ones first, and how many these are."""
    pending = evidence.pending
    known = {z.tobytes() for z in (pending if evidence.noisy else evidence.taken)}
    new = [z for z in np.unique(low, axis=0) if z.tobytes() not in known]
    return np.vstack([pending, *(z[None] for z in new)]), len(pending)


@dataclass
class Runs:
    """Runs (r) on one set of points (m), each on a function of its own. Values are standardized, to be minimized."""

    means: Array  # (k, m) of each model
    covariances: list[Array | None]  # (m, m) of each model that is used
    which: Index  # (r,) the model of each run
    told: Array  # (r, m) what would be measured
    counts: Mask  # (r, m) whether there would be a value that keeps all limits
    noise: Array  # (r,) variance
    best: Array  # (r,) so far
    success: Array  # (m,) the chance to get such a value

    def steps(self, count: int, pending: int, workers: int) -> Index:
        """The points (r, count) that each run evaluates, in order.

        While a point is under evaluation, its variance counts as known, its value does not (Kriging Believer).
        """
        r, n = self.told.shape
        rows, best = np.arange(r), self.best.copy()
        known, expected = self.means[self.which], self.means[self.which]  # with the values that are in, and with all
        diagonals = [np.zeros(n) if C is None else np.diag(C) for C in self.covariances]
        variance = np.array([diagonals[k] for k in self.which])
        columns, surprises = np.zeros((r, count, n)), np.zeros((r, count))
        free, taken = np.full((r, n), True), np.empty((r, count), dtype=np.intp)
        for t in range(count):
            chosen = np.full(r, t) if t < pending else self._choice(known, variance, best, free)
            taken[:, t], free[rows, chosen] = chosen, False
            there = np.array([_row(self.covariances[k], z) for k, z in zip(self.which, chosen, strict=True)])
            there -= np.einsum("rt,rtm->rm", columns[rows, :t, chosen], columns[:, :t])
            spread = np.sqrt(np.maximum(variance[rows, chosen], 0.0) + self.noise + SLIGHT)
            learned = self.counts[rows, chosen]
            columns[:, t] = there / spread[:, None] * learned[:, None]
            surprises[:, t] = (self.told[rows, chosen] - expected[rows, chosen]) / spread
            expected = expected + columns[:, t] * surprises[:, t, None]
            variance = variance - columns[:, t] ** 2
            if (s := t + 1 - workers) >= 0:  # the oldest of those that run has ended
                known = known + columns[:, s] * surprises[:, s, None]
                ended = taken[:, s]
                value = np.where(self.counts[rows, ended], self.told[rows, ended], np.inf)
                best = np.minimum(best, value)
        return taken

    def _choice(self, mean: Array, variance: Array, best: Array, free: Array) -> Index:
        """Where most improvement is expected (r,)."""
        sd = np.sqrt(np.maximum(variance, 0.0) + self.noise[:, None] + SLIGHT)
        u = (best[:, None] - mean) / sd
        gain = sd * (u * ndtr(u) + np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi)) * self.success
        return np.asarray(np.where(free, gain, -np.inf).argmax(axis=1))


def _row(covariance: Array | None, z: int) -> Array:
    assert covariance is not None  # of every model that a run has
    return np.asarray(covariance[z])
