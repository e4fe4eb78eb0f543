"""The inner search of the paper: candidates spread over the whole cube, the best of them polished to the end."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Acquisition, Choose, Spread, best_starts, on_branches, polish, uniform
from aegisbo.search.within import search_within
from aegisbo.space.cube import Cube


@dataclass(frozen=True)
class EverywhereSearch:
    """A search that takes no hint."""

    spread: Spread = uniform
    choose: Choose = best_starts
    candidates: int = 1000  # for each parameter
    starts: int = 10

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """Local minima (starts, width), rounded to what can be evaluated, the lowest first."""
        if cube.rules is not None:
            return search_within(objective, cube, rng, good)
        d = cube.parameters
        candidates = cube.fill_all(self.spread(self.candidates * d, d, rng))
        objective = on_branches(objective, cube)
        values = by_blocks(objective.screen, candidates)
        return cube.round(polish(objective, candidates[self.choose(values, self.starts, rng)]))
