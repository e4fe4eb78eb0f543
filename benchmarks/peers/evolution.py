"""CMA-ES (the package cmaes) with workers that finish at different times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import default_rng

from aegisbo import Choice, Int
from aegisbo.arrays import Array
from aegisbo.space.parameters import Params
from benchmarks.peers.foreign import Bounds, Foreign

SIGMA = 0.2  # of the box, as COCO's own runs of CMA-ES begin: 2 in [-5, 5]


class Evolution(Foreign):
    """Every ask is a draw from the present distribution. Results are told as soon as there are enough for a generation.

    The first search begins at the best point of the start, at a random one if there is none. One that has converged
    gives way to another from a random point with twice the population. Spaces with whole numbers or choices are left to
    CatCMA with margin.
    """

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        super().__init__(bounds, seed, n_initial)
        self._rng = default_rng(seed)
        self._best: tuple[float, Params] = (math.inf, {})
        self._initial: dict[int, Params] = {}
        self._search: Any = None
        self._drawn: dict[int, Any] = {}  # by trial number
        self._generation: list[tuple[Any, float]] = []

    def suggest(self, number: int, initial: Params | None) -> Params:
        if initial is not None:
            self._initial[number] = initial
            return initial
        if self._search is None:
            known = self._best[1]
            self._search = self._begin(None, self.space.to_unit(known) if known else self._anywhere())
        self._drawn[number] = self._search.ask()
        return self._params(self._drawn[number])

    def tell(self, number: int, value: float) -> None:
        if number in self._initial:
            self._best = min(self._best, (value, self._initial[number]), key=lambda pair: pair[0])
        if number not in self._drawn:  # one of the start, or drawn before a restart
            return
        self._generation.append((self._drawn.pop(number), value))
        if len(self._generation) == self._search.population_size:
            self._search.tell(self._generation)
            self._generation = []
            if self._search.should_stop():
                self._drawn = {}
                self._search = self._begin(2 * self._search.population_size, self._anywhere())

    def observe(self, x: Array, y: float) -> None:
        self._best = min(self._best, (y, self.space.check(x)), key=lambda pair: pair[0])

    @property
    def mean(self) -> Array:  # (width,)
        """Where the present distribution has its center, on the cube of real numbers."""
        return np.asarray(self._search.mean)

    def _anywhere(self) -> Array:  # (width,)
        return self._rng.random(self.space.cube.width)

    def _begin(self, population: int | None, mean: Array) -> Any:  # (width,)
        from cmaes import CMA, CatCMAwM

        seed = int(self._rng.integers(2**31))
        if self.space.cube.continuous:
            box = np.array([[0.0, 1.0]] * len(mean))
            return CMA(mean, SIGMA, bounds=box, seed=seed, population_size=population)
        sides = self.space.parameters.values()
        whole = [list(range(side.low, side.high + 1)) for side in sides if isinstance(side, Int)]
        choices = [len(side.values) for side in sides if isinstance(side, Choice)]
        return CatCMAwM(z_space=whole or None, c_space=choices or None, seed=seed, population_size=population)

    def _params(self, drawn: Any) -> Params:
        if self.space.cube.continuous:
            return self.space.params(drawn)
        whole = iter(() if drawn.z is None else drawn.z.tolist())
        chosen = iter(() if drawn.c is None else drawn.c.argmax(axis=1).tolist())
        return {
            name: side.values[next(chosen)] if isinstance(side, Choice) else int(next(whole))
            for name, side in self.space.parameters.items()
        }
