"""The Kriging Believer (Ginsbourger et al., 2010): pending points are taken to be as good as predicted."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.arrays import Array
from aegisbo.strategies.belief import Belief, lowest_measured
from aegisbo.strategies.expected_improvement import ExpectedImprovement, Improvement

LIKELY = -0.7  # log of a chance of one half


@dataclass(frozen=True, kw_only=True)
class KrigingBeliever(ExpectedImprovement):
    """Expected improvement on the data and the believed values of all pending points."""

    move = "kriging-believer"

    def improvement(self, belief: Belief, pending: Array) -> Improvement:
        """What is left to gain if all pending points turn out as predicted."""
        return believed_improvement(belief, pending)


def believed_improvement(belief: Belief, pending: Array) -> Improvement:
    """Expected improvement when the believed values count as measured, also where they are the best."""
    gp = belief.gp.believing(pending)
    if belief.good is not None:  # some values may not count
        return Improvement(gp, best_with(belief, pending))
    return Improvement(gp, min(belief.best, lowest_measured(gp)))


def best_with(belief: Belief, pending: Array) -> float:
    """The best value, if all pending points turn out as predicted; those that will probably break a limit are none."""
    if belief.keeping is not None and len(pending):
        pending = pending[belief.keeping.log_value(pending) > LIKELY]
    return min(belief.best, float(belief.gp.mean(pending).min())) if len(pending) else belief.best
