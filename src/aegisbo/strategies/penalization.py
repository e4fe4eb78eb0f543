"""Local penalisation (Gonzalez et al., 2016) and PLAyBOOK (Alvi et al., 2019): keep away from pending points."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.strategies.acquisition import hard_penalty, soft_penalty
from aegisbo.strategies.expected_improvement import ExpectedImprovement, Improvement
from aegisbo.strategies.surrogates import Belief


@dataclass(frozen=True, kw_only=True)
class LocalPenalization(ExpectedImprovement):
    """Expected improvement times a soft edge around each pending point, one Lipschitz constant for all."""

    move = "local-penalization"

    def improvement(self, belief: Belief, pending: Array, rng: Generator) -> Improvement:
        """Penalised wherever something is pending."""
        penalty = soft_penalty(belief.gp, pending, belief.best, rng) if len(pending) else None
        return Improvement(belief.gp, belief.best, penalty)


@dataclass(frozen=True, kw_only=True)
class Playbook(ExpectedImprovement):
    """Expected improvement times a cone around each pending point, with the Lipschitz constant found near it."""

    move = "playbook"

    def improvement(self, belief: Belief, pending: Array, rng: Generator) -> Improvement:
        """Penalised wherever something is pending."""
        penalty = hard_penalty(belief.gp, pending, belief.best, rng) if len(pending) else None
        return Improvement(belief.gp, belief.best, penalty)
