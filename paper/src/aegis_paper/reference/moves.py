"""Thompson sampling made in another way: what the deviations `paths` and `search` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import Acquisition, InnerSearch
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True)
class PathMove:
    """Draw a path and minimize it."""

    draw: Callable[[GP, int, Generator], Acquisition]
    features: int
    search: InnerSearch

    def choose(self, turn: Turn) -> Decision:
        """The lowest points of one path, the lowest first."""
        belief, rng = turn.belief.exploring, turn.rng
        path = self.draw(belief.gp, self.features, rng)
        return Decision("thompson", self.search(path, turn.evidence.cube, rng, belief.good_points()), belief)
