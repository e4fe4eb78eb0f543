"""Thompson sampling: where a function drawn from the posterior is lowest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.gp import paths
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.moves.exploit import weighed
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True)
class SamplePath:
    """Minimize a function drawn from the posterior (lines 8 and 9); given a price, maximize its gain per second."""

    features: int = paths.FEATURES

    def choose(self, turn: Turn) -> Decision:
        """The lowest points of one path, the lowest first."""
        belief, evidence = turn.belief.exploring, turn.evidence
        objective = weighed(posterior_path(belief.gp, self.features, turn.rng), belief, evidence)
        return Decision("thompson", turn.search(objective, evidence.cube, turn.rng, belief.good_points()), belief)


def posterior_path(gp: GP, features: int, rng: Generator) -> Acquisition:
    """A function drawn from the posterior, to be minimized."""
    return PathToSearch(paths.draw(gp, rng, features=features))


@dataclass(frozen=True)
class PathToSearch:
    """A function that was drawn, as a search sees it."""

    path: paths.SamplePaths

    def screen(self, Z: Array) -> Floats:
        return np.asarray(self.path(Z.astype(np.float32))[0])

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.path.value_and_gradient(Z)
        return values[0], gradients[0]
