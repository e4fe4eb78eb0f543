"""The inner search where parameters have levels or choices: go from neighbor to neighbor.

The lowest point of a relaxed function, rounded, is rarely the lowest that can be evaluated. So the search goes on where
rounding ends: one parameter at a time moves to another level or choice, in turn with the continuous coordinates, until
no such move leads down. Only the best starts go so far: an evaluation of expected improvement costs the square of the
number of data. A cube of few points is looked at in full instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.inner_search import Acquisition, on_branches, polish
from aegisbo.search.near_best import FINAL_EVALUATIONS, FINALISTS, SPRINT_STEPS, NearBestSearch
from aegisbo.search.neighbors import Partly, coordinates, lowest_first, neighbors, walk
from aegisbo.search.within import search_within
from aegisbo.space.cube import Continuous, Cube, Grid

ROUNDS = 10  # of descent in turn; three are many, but rounding errors can make two equal points take turns forever


@dataclass(frozen=True)
class MixedSearch:
    """A search that compares only what can be evaluated; the same as `near_best` where everything is continuous."""

    near_best: NearBestSearch = field(default_factory=NearBestSearch)  # finds the starts
    listed: int = 1000  # points for each parameter: a cube of no more is looked at in full

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """The lowest first (k, width): all points of a small cube, else local minima, their neighbors and starts."""
        if cube.rules is not None:
            return search_within(objective, cube, rng, good)
        if cube.continuous:
            return self.near_best(objective, cube, rng, good)
        if cube.size <= self.listed * cube.parameters:
            return lowest_first(objective, cube, cube.every_point)
        objective = on_branches(objective, cube)
        starts = self.near_best.promising(objective, cube, rng, good)
        relaxed = polish(Partly(objective, coordinates(cube, Continuous, Grid)), starts, steps=SPRINT_STEPS)
        points = lowest_first(objective, cube, np.vstack([starts, cube.round_all(relaxed)]))
        minima = local_minima(objective, cube, points[: len(starts)])
        around = neighbors(objective, cube, minima).reshape(-1, cube.width)
        return lowest_first(objective, cube, cube.without_absent(np.vstack([minima, around, points])))


def local_minima(objective: Acquisition, cube: Cube, points: Array) -> Array:
    """Low points (at most k, width) below points (k, width) that can be evaluated; the lowest are local minima.

    A race, as where all is continuous: all go a little way, the best of them to the end.
    """
    if cube.size < np.inf:
        return np.unique(walk(objective, cube, points), axis=0)
    at_fixed_levels = Partly(objective, coordinates(cube, Continuous))
    ahead = cube.round_all(polish(at_fixed_levels, points, steps=SPRINT_STEPS))
    ahead = lowest_first(objective, cube, walk(objective, cube, ahead))
    best = ahead[:FINALISTS]
    for _ in range(ROUNDS):
        settled = cube.round_all(polish(at_fixed_levels, best, evaluations=FINAL_EVALUATIONS))
        best = walk(objective, cube, settled)
        if np.array_equal(best, settled):
            break
    return np.unique(np.vstack([best, ahead[FINALISTS:]]), axis=0)
