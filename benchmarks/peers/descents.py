"""COBYQA, a local search without derivatives, again and again from other points: one evaluation at a time."""

from __future__ import annotations

import math
from typing import Any

from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.space.parameters import Params
from benchmarks.peers.foreign import Bounds, Foreign

FIRST_RADIUS, LAST_RADIUS = 0.2, 1e-8  # of its trust region, in the unit cube


class Descents(Foreign):
    """The first descent begins at the best point of the start, the others at random points.

    COBYQA calls the function; here the function is a switch to whoever asked, who comes back with the value. (SciPy's
    copy of COBYQA holds a lock while it runs, so a run that is left in the middle would block the next.)
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
        from cobyqa import minimize
        from greenlet import getcurrent

        caller = getcurrent().parent
        start = self.space.to_unit(self._best[1])
        options = {"radius_init": FIRST_RADIUS, "radius_final": LAST_RADIUS}
        while True:
            minimize(caller.switch, start, bounds=[(0.0, 1.0)] * len(start), options=options)
            start = self._rng.random(len(start))
