"""Where limits on what is measured are most likely kept, until an evaluation has kept them all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from aegisbo.arrays import Array, Floats
from aegisbo.gp.paths import FEATURES
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.learned_limits import best_first
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.thompson import posterior_path
from aegisbo.strategies.product import Risk, product

SOFTNESS = 0.1  # of the edge of a limit on a sample path, in standard deviations of what is measured


@dataclass(frozen=True)
class Feasible:
    """Look for points that may keep all limits: the most likely ones, or those of a draw.

    A draw from each model leads somewhere else each time, so that points that are evaluated together differ.
    """

    def choose(self, turn: Turn) -> Decision | None:
        """The best first, as long as no evaluation has kept all limits."""
        belief, evidence, rng = turn.believed, turn.evidence, turn.rng
        if belief.keeping is None or evidence.kept.any():
            return None
        if rng.random() < 0.5:
            objective: Acquisition = Risk(belief.chance or belief.keeping, alone=True)
        else:
            drawn = tuple((posterior_path(gp, FEATURES, rng), bound) for gp, bound in belief.keeping.models)
            objective = product(_Beyond(drawn), chance=belief.success)
        return Decision("feasible", turn.search(objective, evidence.cube, rng, best_first(evidence)), belief)


@dataclass(frozen=True)
class _Beyond:
    """By how much functions drawn from the models are beyond the limits: Σ log(1 + exp((f_j − t_j)/softness))."""

    paths: tuple[tuple[Acquisition, float], ...]

    def screen(self, Z: Array) -> Floats:
        return np.asarray(sum(np.logaddexp(0.0, (path.screen(Z) - bound) / SOFTNESS) for path, bound in self.paths))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        total, gradient = np.zeros(len(Z)), np.zeros_like(Z)
        for path, bound in self.paths:
            value, slope = path.value_and_gradient(Z)
            t = (value - bound) / SOFTNESS
            total += np.logaddexp(0.0, t)
            gradient += (expit(t) / SOFTNESS)[:, None] * slope
        return total, gradient
