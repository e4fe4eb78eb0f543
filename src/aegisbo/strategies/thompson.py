"""Asynchronous Thompson sampling (Kandasamy et al., 2018): always minimize a function drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.model_based import Decision, ModelBased
from aegisbo.strategies.moves import Weights, thompson


@dataclass(frozen=True, kw_only=True)
class Thompson(ModelBased):
    """Pending points need no care: each draw is another function."""

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Minimize one sample path."""
        parts, belief = self.parts, belief.exploring
        choices = thompson(belief.gp, evidence.cube, parts.search, parts.features, rng, Weights.of(belief))
        return Decision(choices, {"move": "thompson"}, memory)
