"""The inner search of the modern preset: a few candidates anywhere, some near what is good, and a race.

The paper looks at 1000 candidates for each parameter and polishes ten of them to the end. Most of that is spent far
from any minimum, and yet a narrow one beside the best points is missed. Here fewer candidates are spread over the cube,
some more are bred from the best points so far, starts are taken from both, and only the best go all the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Acquisition, best_starts, on_branches, polish, uniform
from aegisbo.space.cube import Cube

SPRINT_STEPS = 12  # steps that all starts of a race make
FINALISTS = 2
FINAL_EVALUATIONS = 80  # of finalists at most: hardly ever so many; with a thousand data each takes milliseconds
MIXED = 0.7  # of the children have two parents, the others are copies of one, before they move
MOVE_SIZES = (1e-4, 0.3)  # standard deviations of the moves, in sides of the cube; any order of magnitude is as likely


@dataclass(frozen=True)
class NearBestSearch:
    """A search that also looks around the good points it is told of."""

    candidates: int = 200  # for each parameter, anywhere
    near: int = 50  # for each parameter, near good points
    starts: int = 7  # from anywhere
    near_starts: int = 3  # apart, because else all starts would lie near the best point

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """Local minima (k, width), rounded to what can be evaluated, the lowest first."""
        objective = on_branches(objective, cube)
        return cube.round(race(objective, self.promising(objective, cube, rng, good)))

    def promising(
        self, objective: Acquisition, cube: Cube, rng: Generator, good: Array, anywhere: Array | None = None
    ) -> Array:
        """The best of points anywhere (m, width) and of those near good ones (starts + near_starts, width).

        They can be evaluated, and have coordinates for all axes, also for those that are not there.
        """
        d = cube.parameters
        if anywhere is None:
            anywhere = cube.fill_all(uniform(self.candidates * d, d, rng))
        count = self.near * d * (1 if cube.rules is None else 2)  # constraints forbid some of them
        near = np.vstack([placed(good, cube, rng), children(good, cube, count, rng)])
        near = near[cube.allowed(near)]
        values = by_blocks(objective.screen, np.vstack([anywhere, near]))
        starts = [anywhere[best_starts(values[: len(anywhere)], self.starts, rng)]]
        if len(near):
            starts.append(near[best_starts(values[len(anywhere) :], self.near_starts, rng)])
        return np.vstack(starts)


def race(objective: Acquisition, starts: Array) -> Array:
    """Where descents from all starts (k, d) got: a little way, the best of them to the end. Lowest first (k, d).

    Which start wins shows early; the long way to the last digits is for the winners.
    """
    ahead = polish(objective, starts, steps=SPRINT_STEPS)
    return np.vstack([polish(objective, ahead[:FINALISTS], evaluations=FINAL_EVALUATIONS), ahead[FINALISTS:]])


def children(good: Array, cube: Cube, count: int, rng: Generator) -> Array:
    """Points (count, width) near good ones (k, width): coordinates of one or two of them, some of them moved.

    Where coordinates act by themselves, a point with the best of each lies among the mixtures.
    """
    shape = (count, good.shape[1])
    one, other = (placed(parents, cube, rng) for parents in good[rng.integers(len(good), size=(2, count))])
    swapped = (rng.random(shape) < 0.5) & (rng.random((count, 1)) < MIXED)
    shortest, longest = np.log(MOVE_SIZES)
    step = np.exp(rng.uniform(shortest, longest, size=(count, 1)))
    all_or_two = np.where(rng.random((count, 1)) < 0.5, 1.0, 2.0 / shape[1])  # share of the coordinates that move
    moved = rng.random(shape) < all_or_two
    return cube.round_all(np.clip(np.where(swapped, other, one) + step * moved * rng.standard_normal(shape), 0.0, 1.0))


def placed(points: Array, cube: Cube, rng: Generator) -> Array:  # (k, width) -> (k, width)
    """The points with random coordinates for the axes that are not there, so that a child can have them."""
    if cube.branches is None:
        return points
    return np.where(cube.present(points), points, cube.fill_all(uniform(len(points), cube.parameters, rng)))
