"""Descents into other valleys, when the bottom of the best one is known.

A descent starts, or goes on, at each point that has no lower one near it (multi-level single linkage, Rinnooy Kan and
Timmer, 1987), so that no valley is descended twice. If none promises anything, a point far from all others is a new
start.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import exp

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from aegisbo.arrays import Array, Index, Mask
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Acquisition
from aegisbo.search.near_best import race
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.valley import Valley, critical_distance, in_valley
from aegisbo.strategies.product import product

VALLEYS = 10  # that are looked at for one choice at most
LEAST_PROMISE = 1e-2  # expected improvement below which a descent ends, in standard deviations of the (soft) outputs
STOPS = 10  # on the way between two points, where the model is asked for a hill
LITTLE = 0.01  # of `LEAST_PROMISE`: if no candidate has more, no descent from them will find enough
CANDIDATES = 100  # for each parameter, in the box around a point
BOX_STARTS = 4  # candidates that are raced
ANYWHERE = 10  # random points, of which one far from all others is taken


@dataclass(frozen=True)
class Elsewhere:
    """Descend into another valley instead of a point in one whose bottom is known."""

    def instead(self, turn: Turn, decision: Decision) -> Decision | None:
        """The next point of a descent, unless the decision exploits or leads away anyway."""
        evidence = turn.evidence
        if decision.move in ("exploit", "local") or evidence.price is not None:  # a descent does not look at the clock
            return None
        valley = turn.recall(Valley)
        if valley is None or not valley.is_known(evidence) or not in_valley(decision.choices[:1], evidence)[0]:
            return None
        belief = turn.belief.exploring
        return Decision("elsewhere", descend(belief, evidence, turn.rng), belief)


def local_minima(X: Array, y: Array, distance: float) -> Index:
    """The rows of X (n, d) with no lower one within this distance, by their values y (n,); the lowest first."""
    order = np.argsort(y, kind="stable")
    to_lower = np.tril(cdist(X[order], X[order]), -1) + np.triu(np.full((len(y), len(y)), np.inf))
    return np.asarray(order[to_lower.min(axis=1) >= distance])


def descend(belief: Belief, evidence: Evidence, rng: Generator) -> Array:
    """Where a descent goes on, in the deepest other valley that promises anything: choices (k, d), the best first."""
    known = np.arange(len(evidence.y)) if belief.rows is None else belief.rows
    X, y = evidence.X[known], belief.scale.standardized(evidence.y[known])
    distance = critical_distance(*X.shape)
    best, *others = local_minima(X, y, distance)
    valleys = (row for row in others if is_apart(X[row], X[best], float(y[row]), belief))
    predicted, believed = belief.gp.mean(evidence.pending), belief.gp.believing(evidence.pending)
    for row in islice(valleys, VALLEYS):
        around = Box(np.maximum(X[row] - distance / 2, 0.0), np.minimum(X[row] + distance / 2, 1.0))
        lowest = predicted[around.holds(evidence.pending)].min(initial=y[row])
        choices, promise = around.most_improved(Improvement(believed, float(lowest)), belief.factor, rng)
        if promise > LEAST_PROMISE:
            return choices
    anywhere = rng.random((ANYWHERE, X.shape[1]))
    return np.asarray(anywhere[np.argsort(-cdist(anywhere, evidence.taken).min(axis=1))])


def is_apart(x: Array, best: Array, value: float, belief: Belief) -> bool:
    """Whether the way from x (d,) with this value to the best point (d,) leads over a hill (Ursem, 1999)."""
    way = x + np.linspace(0.0, 1.0, 2 + STOPS)[1:-1, None] * (best - x)
    return bool(belief.gp.mean(way).max() > value)


@dataclass(frozen=True)
class Box:
    """A part of the cube."""

    low: Array  # (d,)
    high: Array  # (d,)

    def at(self, V: Array) -> Array:
        """The points of the cube (m, d) that V (m, d) means, where the box is the unit cube."""
        return np.asarray(self.low + V * (self.high - self.low))

    def holds(self, X: Array) -> Mask:
        """Which of X (m, d) lie in it (m,)."""
        return np.asarray(np.all((self.low <= X) & (self.high >= X), axis=1))

    def most_improved(self, over: Improvement, chance: Chance | None, rng: Generator) -> tuple[Array, float]:
        """Where it improves most (k, d), and by how much, times the chance to succeed."""
        objective = InBox(self, product(over, chance=chance))
        candidates = rng.random((CANDIDATES * len(self.low), len(self.low)))
        values = by_blocks(objective.screen, candidates)
        found = candidates[np.argsort(values, kind="stable")[:BOX_STARTS]]
        if exp(-float(values.min())) > LITTLE * LEAST_PROMISE:
            found = race(objective, found)
        return self.at(found), exp(-float(objective.screen(found[:1])[0]))


@dataclass(frozen=True)
class InBox:
    """An objective as a function of where in a box a point lies."""

    box: Box
    objective: Acquisition

    def screen(self, V: Array) -> Array:
        return np.asarray(self.objective.screen(self.box.at(V)))

    def value_and_gradient(self, V: Array) -> tuple[Array, Array]:
        values, gradients = self.objective.value_and_gradient(self.box.at(V))
        return values, gradients * (self.box.high - self.box.low)
