"""The local model alone, as a strategy for functions with one valley."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aegisbo.strategies.local_model import local_model, search_near
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True, kw_only=True)
class LocalQuadratic(ModelBased):
    """Expected improvement near the best point, by a quadratic model; pending points turn out as predicted.

    For functions with one valley, however narrow and turned. It does not look for other valleys.
    """

    def decide(self, turn: Turn) -> Decision:
        """Maximize what the neighborhood of the best point promises."""
        belief, evidence, kept = turn.belief, turn.evidence, turn.evidence.kept
        if not kept.all() and kept.sum() > evidence.cube.parameters:  # its center must keep all limits
            failed = np.vstack([evidence.failed, evidence.X[~kept]])
            evidence = replace(evidence.only(np.flatnonzero(kept)), failed=failed, excess=None)
        objective = local_model(evidence).improvement(evidence, belief.factor)
        choices = search_near(objective, evidence.cube, turn.rng)
        return Decision("local", choices, belief, objective.neighborhood.widths)
