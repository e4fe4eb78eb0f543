"""Local: where a model of the lowest points alone promises most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from aegisbo.strategies.base import Evidence
from aegisbo.strategies.local_model import LocalModel, local_model, search_near
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.valley import Valley

TEMPERATURE = 5.0  # by which differences of log p are divided
CHANCES = (0.1, 0.6)  # of the local model at least and at most: there may be other valleys


@dataclass(frozen=True)
class Local:
    """Maximize expected improvement near the best point, by lot: the more often, the better that model predicts."""

    def choose(self, turn: Turn) -> Decision | None:
        """The best first, if there is a model of the neighborhood and the lot falls on it."""
        belief, evidence = turn.belief, turn.evidence
        if not knows_a_neighborhood(evidence):
            return None
        near = self._model(turn)
        if not turn.rng.random() < preference(near.skill(evidence.y), belief.skill(evidence.y)):
            return None
        objective = near.improvement(evidence, belief.factor)
        choices = search_near(objective, evidence.cube, turn.rng)
        turn.remember(Valley(float(evidence.y.min()) - near.gain(objective, choices[0])))
        return Decision("local", choices, belief, objective.neighborhood.widths)

    def _model(self, turn: Turn) -> LocalModel:
        """The model of the lowest points; it learns afresh when the surrogate does."""
        known = turn.recall(Near)
        near = local_model(turn.evidence, None if known is None or turn.belief.fresh else np.array(known.near))
        turn.remember(Near(near.gp.phi.tolist()))
        return near


@dataclass(frozen=True)
class Near(Remembered):
    """What the local model has learned."""

    near: list[float]  # its hyper-parameters (3,)


def knows_a_neighborhood(evidence: Evidence) -> bool:
    """Whether there may be a model of the lowest points alone: one value for each coefficient of a quadratic."""
    n, d = evidence.X.shape
    free = evidence.cube.continuous and evidence.cube.rules is None and evidence.excess is None
    free = free and evidence.sd is None  # of which it knows nothing
    return free and n >= (d + 1) * (d + 2) / 2


def preference(one: float, other: float) -> float:
    """How often to use a model rather than another one, given how well they predict the lowest values: log p.

    It is tempered, because neighbors are not independent.
    """
    return float(np.clip(expit((one - other) / TEMPERATURE), *CHANCES))
