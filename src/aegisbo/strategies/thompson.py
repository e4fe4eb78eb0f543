"""Asynchronous Thompson sampling (Kandasamy et al., 2018): always minimize a function drawn from the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True, kw_only=True)
class Thompson(ModelBased):
    """Pending points need no care: each draw is another function."""

    several_objectives: ClassVar[bool] = True

    def decide(self, turn: Turn) -> Decision:
        """Minimize one sample path."""
        return self.parts.thompson.choose(turn)
