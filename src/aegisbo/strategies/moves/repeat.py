"""Repeat: another measurement of a point that is known, where that decides who is best.

With noise, the best is the evaluated point with the lowest posterior mean. One more measurement at x, with standard
deviation √(v(x) + noise) before it is made, moves the mean at z by Z c(z, x) / √(v(x) + noise), where Z ~ N(0, 1) and c
is the posterior covariance. What it is worth is how much lower the lowest mean of the evaluated points will be, on
average (the knowledge gradient of Frazier et al., 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.moves.move import Decision, Turn

REPEAT = "repeat"  # the move that wants a point which is taken
GREEDY = ("exploit", "improve", "local")  # moves that a repetition may replace
CONTENDERS = 30  # evaluated points with the lowest means, which are compared
Z = ndtri((np.arange(64) + 0.5) / 64)  # how a measurement may turn out


@dataclass(frozen=True)
class Repeat:
    """Measure a point of a finite space again, where values are noisy."""

    def choose(self, turn: Turn) -> Decision | None:
        """The most decisive point, if no other point is left."""
        if not turn.evidence.must_repeat:
            return None
        return Decision(REPEAT, most_decisive(turn.belief.gp, turn.evidence)[0][None, :], turn.belief)

    def instead(self, turn: Turn, decision: Decision) -> Decision | None:
        """The most decisive point, if it is worth more than a new one that was chosen greedily."""
        belief, evidence = turn.belief, turn.evidence
        if not evidence.noisy or evidence.cube.size == inf or decision.move not in GREEDY:
            return None
        fresh = [x for x in decision.choices if not (evidence.taken == x).all(axis=1).any()]
        if not fresh:
            return None
        known, expected = most_decisive(belief.gp, evidence)
        if expected >= with_new(belief.gp, evidence, fresh[0]):
            return None
        return Decision(REPEAT, known[None, :], belief)


def most_decisive(gp: GP, evidence: Evidence) -> tuple[Array, float]:
    """The evaluated point (width,) whose next measurement is worth most, and how low the lowest mean will be then.

    Pending points count as measured: several workers need not settle the same question.
    """
    points, means, extra = _contenders(gp, evidence)
    gp = gp.believing(evidence.pending)
    covariance = gp.covariance(points, points)  # (m, m)
    variances = np.maximum(np.diagonal(covariance), 0.0) + gp.noise + extra
    expected = expected_lowest(means, covariance / np.sqrt(variances))
    best = int(expected.argmin())
    return points[best], float(expected[best])


def with_new(gp: GP, evidence: Evidence, x: Array) -> float:
    """How low the lowest mean will be after a first measurement at x (width,), which may be the best then."""
    points, means, extra = _contenders(gp, evidence)
    gp = gp.believing(evidence.pending)
    covariance = gp.covariance(np.vstack([points, x]), x[None, :])  # (m + 1, 1)
    moves = covariance / np.sqrt(max(float(covariance[-1, 0]), 0.0) + gp.noise + extra.mean())
    return float(expected_lowest(np.append(means, gp.mean(x[None, :])), moves)[0])


def expected_lowest(means: Array, moves: Array) -> Array:
    """What the lowest of the means (m,) is expected to be (k,) after each of k measurements.

    Column k of `moves` (m, k) is how far the means move if that measurement is a standard deviation too high.
    """
    after = means[:, None, None] + moves[:, :, None] * Z  # (m, k, 64)
    return np.asarray(after.min(axis=0).mean(axis=-1))


def _contenders(gp: GP, evidence: Evidence) -> tuple[Array, Array, Array]:
    """The evaluated points with the lowest means, each once (m, width), and these means (m,).

    And the variance that was known of their measurements, on average (m,). Points that break limits compete only if
    all do.
    """
    kept = evidence.kept | (not evidence.kept.any())
    points, which, counts = np.unique(evidence.X[kept], axis=0, return_inverse=True, return_counts=True)
    extra = np.zeros(len(points))
    if gp.extra is not None and len(gp.extra) == len(kept):  # else there are too many data for the posterior
        extra = np.bincount(which.ravel(), gp.extra[kept]) / counts
    means = by_blocks(gp.mean, points)
    lowest = np.argsort(means, kind="stable")[:CONTENDERS]
    return points[lowest], means[lowest], extra[lowest]
