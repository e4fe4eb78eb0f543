"""Improve: where most improvement is expected, if the lowest mean promises too little."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.inner_search import Acquisition, InnerSearch
from aegisbo.space.cube import Cube
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.pending import believed_improvement
from aegisbo.strategies.per_second import Quickness
from aegisbo.strategies.product import product

WORTH_A_TRAINING = 0.1  # the least promise where evaluations are stopped: by experiment, docs/experiments/curves.md


@dataclass(frozen=True)
class Improve:
    """Maximize expected improvement, with pending points as predicted, instead of an exploitation that gains nothing.

    An evaluation next to the best point is too good to be stopped, and keeps its worker to the end. So where
    evaluations are stopped, an exploitation must promise more than the last digits.

    Args:
        least_promise: what the lowest mean must promise to be exploited, in standard deviations of the (soft) outputs.
    """

    least_promise: float

    def instead(self, turn: Turn, decision: Decision) -> Decision | None:
        """Where most improvement is expected, per second if that is the price."""
        if decision.move != "exploit" or not self._is_spent(decision.choices[0], turn):
            return None
        belief, evidence = turn.belief, turn.evidence
        factors = () if evidence.price is None else (Quickness(evidence.price),)
        promise = believed_improvement(belief, evidence.pending)
        choices = most_improved(promise, belief, evidence.cube, turn.search, turn.rng, *factors)
        return Decision("improve", choices, belief)

    def _is_spent(self, x: Array, turn: Turn) -> bool:
        """Whether the lowest mean, at x (width,), promises too little."""
        belief = turn.belief
        least = self.least_promise if turn.evidence.stopped is None else max(self.least_promise, WORTH_A_TRAINING)
        return belief.best - float(belief.gp.mean(x[None, :])[0]) < least


def most_improved(
    improvement: Improvement, belief: Belief, cube: Cube, search: InnerSearch, rng: Generator, *factors: Acquisition
) -> Array:
    """Maximize an improvement, times other factors and the chance to succeed: choices (k, width), the best first."""
    objective = product(improvement, *factors, chance=belief.factor)
    return search(objective, cube, rng, belief.good_points(improvement.gp))
