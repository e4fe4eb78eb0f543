"""The Kriging Believer (Ginsbourger et al., 2010): pending points are taken to be as good as predicted."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.arrays import Array
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.pending import believed_improvement


@dataclass(frozen=True, kw_only=True)
class KrigingBeliever(ExpectedImprovement):
    """Expected improvement on the data and the believed values of all pending points."""

    move = "kriging-believer"

    def improvement(self, belief: Belief, pending: Array) -> Improvement:
        """What is left to gain if all pending points turn out as predicted."""
        return believed_improvement(belief, pending)
