"""Searches that call the function themselves, one evaluation at a time: COBYQA and lq-CMA-ES."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.space.parameters import Params
from benchmarks.peers.evolution import SIGMA
from benchmarks.peers.foreign import Bounds, Foreign

FIRST_RADIUS, LAST_RADIUS = 0.2, 1e-8  # of COBYQA's trust region, in the unit cube
RESTARTS = 9  # of lq-CMA-ES, each with twice the population: more evaluations than any run has


class Descents(Foreign):
    """The first search begins at the best point of the start, the others at random points.

    The function that it calls is a switch to whoever asked, who comes back with the value. (SciPy's copy of COBYQA
    holds a lock while it runs, so a run that is left in the middle would block the next.)
    """

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        super().__init__(bounds, seed, n_initial)
        self._rng = default_rng(seed)
        self._best: tuple[float, Params] = (math.inf, {})
        self._last: Params = {}
        self._value: float | None = None
        self._search: Any = None

    def suggest(self, number: int, initial: Params | None) -> Params:
        from greenlet import greenlet

        if initial is None:
            if self._search is None:
                self._search = greenlet(self._descend)
                self._value = None
            initial = self.space.params(self._search.switch(self._value))
        self._last = initial
        return initial

    def tell(self, number: int, value: float) -> None:
        self._value = value
        self._best = min(self._best, (value, self._last), key=lambda pair: pair[0])

    def observe(self, x: Array, y: float) -> None:
        self._best = min(self._best, (y, self.space.check(x)), key=lambda pair: pair[0])

    def _descend(self, nothing: None) -> None:
        from greenlet import getcurrent

        caller = getcurrent().parent
        start = self.space.to_unit(self._best[1])
        while True:
            self.minimize(caller.switch, start)
            start = self._rng.random(len(start))

    def minimize(self, function: Callable[[Array], float], start: Array) -> None:
        """Search the unit cube from a start (d,) until there is nothing left to find."""
        raise NotImplementedError


class Cobyqa(Descents):
    """A local search by quadratic models in a trust region."""

    def minimize(self, function: Callable[[Array], float], start: Array) -> None:
        from cobyqa import minimize

        options = {"radius_init": FIRST_RADIUS, "radius_final": LAST_RADIUS}
        minimize(function, start, bounds=[(0.0, 1.0)] * len(start), options=options)


class LqCmaes(Descents):
    """CMA-ES that evaluates of a generation only what its quadratic model needs to rank the others; with restarts."""

    def minimize(self, function: Callable[[Array], float], start: Array) -> None:
        from cma import fmin_lq_surr2

        options = {"bounds": [0.0, 1.0], "seed": int(self._rng.integers(1, 2**31)), "verbose": -9}
        starts = chain([start], map(self._rng.random, repeat(len(start))))
        fmin_lq_surr2(function, lambda: next(starts), SIGMA, options, restarts=RESTARTS)
