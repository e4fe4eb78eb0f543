"""Asynchronous Thompson sampling (Kandasamy et al., 2018): always minimize a function drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.model_based import Decision, ModelBased
from aegisbo.strategies.moves import thompson


@dataclass(frozen=True, kw_only=True)
class Thompson(ModelBased):
    """Pending points need no care: each draw is another function."""

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Minimize one sample path."""
        choices = thompson(belief.exploring, evidence, self.parts.search, self.parts.features, rng)
        return Decision(choices, {"move": "thompson"}, memory)
