"""Local, where noise grows with the value: a draw of where the bottom of a bowl may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.gp.bowl import bowl_of
from aegisbo.gp.output_transform import without_penalties
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.local_model import neighborhood_of
from aegisbo.strategies.moves.local import knows_a_neighborhood
from aegisbo.strategies.moves.move import Decision, Turn

OFTEN = 0.9  # how often it chooses where it predicts better: there may be other valleys
DRAWS = 20
REACH = 1.0  # of a draw, root mean square: about as far as the lowest points lie


@dataclass(frozen=True)
class Bottom:
    """Thompson sampling of the bottom, if a bowl with noise that grows with its height predicts all values better."""

    def choose(self, turn: Turn) -> Decision | None:
        """Draws in random order; where evaluations may fail, those with a good chance come first."""
        belief, evidence = turn.belief, turn.evidence
        if not (evidence.noisy and knows_a_neighborhood(evidence)):
            return None
        known = evidence if belief.rows is None else evidence.only(belief.rows)
        if len(without_penalties(known.y)) < len(known.y):
            return None  # which are no noise
        neighborhood = neighborhood_of(known.X[np.argsort(by_blocks(belief.gp.mean, known.X), kind="stable")])
        bowl = bowl_of(neighborhood.local(known.X), known.y)
        if bowl is None or bowl.log_density <= belief.skill(evidence.y, everywhere=True):
            return None
        if turn.rng.random() >= OFTEN:
            return None
        drawn = turn.rng.multivariate_normal(bowl.bottom, bowl.covariance, size=DRAWS, method="cholesky")
        drawn /= np.maximum(np.sqrt((drawn**2).mean(axis=1, keepdims=True)) / REACH, 1.0)
        choices = np.clip(neighborhood.center + drawn @ neighborhood.axes.T, 0.0, 1.0)
        if belief.factor is not None:
            luck = turn.rng.gumbel(size=DRAWS)  # the order is that of draws in proportion to the chance
            choices = choices[np.argsort(-belief.factor.log_value(choices) - luck, kind="stable")]
        return Decision("local", evidence.cube.round(choices), belief, neighborhood.widths)
