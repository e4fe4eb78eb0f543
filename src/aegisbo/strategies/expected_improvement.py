"""Expected improvement as a sequential strategy, and what its relatives share with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.improve import most_improved
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True, kw_only=True)
class ExpectedImprovement(ModelBased):
    """Maximize expected improvement over the best value measured (eq. 3); made for one worker."""

    move: ClassVar[str] = "ei"

    def improvement(self, belief: Belief, pending: Array) -> Improvement:
        """What is maximized; this one does not look at pending points."""
        return Improvement(belief.gp, belief.best)

    def penalty(self, belief: Belief, pending: Array, rng: Generator) -> Acquisition | None:
        """−log of what keeps away from the points that are pending, if there are any; this one does not."""
        return None

    def decide(self, turn: Turn) -> Decision:
        """Maximize the improvement that this strategy believes in."""
        accounting, searching = turn.rng.spawn(2)
        belief, evidence = turn.belief, turn.evidence
        penalty = self.penalty(belief, evidence.pending, accounting) if len(evidence.pending) else None
        improvement = self.improvement(belief, evidence.pending)
        factors = () if penalty is None else (penalty,)
        choices = most_improved(improvement, belief, evidence.cube, turn.search, searching, *factors)
        return Decision(self.move, choices, belief)
