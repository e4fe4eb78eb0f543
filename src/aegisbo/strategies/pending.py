"""Pending points in expected improvement: they count as measured, with the values that the model predicts.

The posterior itself takes them in with `GP.believing`. Thompson and Pareto moves need none of this: chance keeps their
points apart.
"""

from __future__ import annotations

from aegisbo.arrays import Array
from aegisbo.strategies.belief import Belief, lowest_measured
from aegisbo.strategies.log_expected_improvement import Improvement

LIKELY = -0.7  # log of a chance of one half


def believed_improvement(belief: Belief, pending: Array) -> Improvement:
    """Expected improvement when the believed values count as measured, also where they are the best."""
    gp = belief.gp.believing(pending)
    if belief.good is not None:  # some values may not count
        return Improvement(gp, best_with(belief, pending))
    return Improvement(gp, min(belief.best, lowest_measured(gp)))


def best_with(belief: Belief, pending: Array) -> float:
    """The best value if all pending points turn out as predicted, without those that will probably break a limit."""
    if belief.keeping is not None and len(pending):
        pending = pending[belief.keeping.log_value(pending) > LIKELY]
    return min(belief.best, float(belief.gp.mean(pending).min())) if len(pending) else belief.best
