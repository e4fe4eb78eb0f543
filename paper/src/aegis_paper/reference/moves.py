"""Strategies with some of their moves made in another way: what the deviations `paths`, `search` and `pareto` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import InnerSearch, Objective
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.model_based import Decision
from aegisbo.strategies.thompson import Thompson

Move = Callable[[Belief, Evidence, Generator], Array]  # -> choices (k, width)


@dataclass(frozen=True)
class PathMove:
    """Draw a path and minimize it."""

    draw: Callable[[GP, int, Generator], Objective]
    features: int
    search: InnerSearch

    def __call__(self, belief: Belief, evidence: Evidence, rng: Generator) -> Array:
        return self.search(self.draw(belief.gp, self.features, rng), evidence.cube, rng, belief.good_points())


@dataclass(frozen=True, kw_only=True)
class AegisWithMoves(Aegis):
    """AEGiS that makes the moves named in `moves` as told there."""

    moves: Mapping[str, Move]

    def _choices(self, move: str, belief: Belief, evidence: Evidence, rng: Generator) -> Array:
        if move in self.moves:
            return self.moves[move](belief, evidence, rng)
        return super()._choices(move, belief, evidence, rng)


@dataclass(frozen=True, kw_only=True)
class ThompsonWithMove(Thompson):
    """Thompson sampling that draws and minimizes its paths as told."""

    move: PathMove

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Minimize one path."""
        return Decision(self.move(belief, evidence, rng), {"move": "thompson"}, memory)
