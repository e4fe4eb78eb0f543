"""Local, where values are noisy: where a quadratic through the lowest means promises most.

The lowest values are the luckiest, and a model of them goes where luck was. Where the surrogate explains what was
measured, its lowest means are a better neighborhood, and improvement over the lowest mean is what to look for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.gp import quadratic_model
from aegisbo.gp.low_values import log_densities, lowest
from aegisbo.gp.output_transform import scale_of
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.local_model import LocalImprovement, is_near, neighborhood_of, search_near
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.moves.local import Near, knows_a_neighborhood, preference
from aegisbo.strategies.moves.move import Decision, Turn

MANY = 250  # points at most: the more, the less the noise matters, and the wider the neighborhood stays


@dataclass(frozen=True)
class LocalMean:
    """Maximize expected improvement near the lowest mean, by lot: the more often, the better that model predicts."""

    def choose(self, turn: Turn) -> Decision | None:
        """The best first, if values are noisy but explained, there is a neighborhood, and the lot falls on it."""
        belief, evidence = turn.belief, turn.evidence
        if not (evidence.noisy and knows_a_neighborhood(evidence) and belief.explains):
            return None
        known = evidence if belief.rows is None else evidence.only(belief.rows)
        d = known.X.shape[1]
        order = np.argsort(by_blocks(belief.gp.mean, known.X), kind="stable")
        low = order[:MANY]
        neighborhood, z = neighborhood_of(known.X[low]), belief.scale.standardized(known.y[low])
        scale, learned = scale_of(z), turn.recall(Near)
        warm = None if learned is None or belief.fresh else np.array(learned.near)
        gp = quadratic_model.fit(neighborhood.local(known.X[low]), scale.standardized(z), warm)
        turn.remember(Near(gp.phi.tolist()))
        compared = np.arange(min(len(lowest(known.y, d)), len(low)))
        skill = float((log_densities(gp, compared) + scale.log_slope(z[compared])).sum())
        if not turn.rng.random() < preference(skill, float(log_densities(belief.gp, low[compared]).sum())):
            return None
        pending = neighborhood.local(evidence.pending)
        gp = gp.believing(pending[is_near(pending)])
        objective = LocalImprovement(neighborhood, Improvement(gp, float(gp.mean(gp.X).min())), belief.chance)
        return Decision("local", search_near(objective, evidence.cube, turn.rng), belief, neighborhood.widths)
