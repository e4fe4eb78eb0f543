"""The inner search: candidates spread over the cube, the promising ones polished, the result rounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search import box
from aegisbo.space.cube import Cube

Spread = Callable[[int, int, Generator], Array]  # (n, d, rng) -> (n, d)


def uniform(n: int, d: int, rng: Generator) -> Array:
    """Independent uniform points."""
    return rng.random((n, d))


@dataclass(frozen=True)
class Search:
    """How cheap functions are minimised over the cube."""

    spread: Spread
    choose: box.Choice
    candidates: int = 1000  # for each parameter
    starts: int = 10

    def __call__(self, objective: box.Objective, cube: Cube, rng: Generator, good: Array) -> Array:
        """Local minima (k, width), rounded to what can be evaluated, the lowest first.

        The best points known, `good` (m, width), are a hint; this search, the paper's, does without.
        """
        d = cube.parameters
        candidates = cube.fill(self.spread(self.candidates * d, d, rng))
        return cube.round(box.minimise(objective, candidates, rng, starts=self.starts, choose=self.choose).polished)
