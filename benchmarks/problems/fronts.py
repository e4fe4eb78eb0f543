"""Problems with several objectives, all minimized, and how far a run is from the best front.

The score is the gap of hypervolume as COCO defines it for bbob-biobj. Values are moved to a box whose best corner is 0
and whose worst corner, the reference, is 1. A front covers the part of the box that it dominates; the gap is what the
best front covers and this one does not. While no point is in the box, the distance to the nearest one is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aegisbo.arrays import Array
from aegisbo.errors import UnknownName
from aegisbo.simulation.fronts import FRONTS
from benchmarks.problems.tables import table

WORST = 1.1  # of the range of the best front: where the reference of a table is
CLOSED = {problem.name: problem for problem in FRONTS}
LOWEST = {"ZDT3": (0.0, -0.7733690123266405)}  # best values of the objectives, where they are not all 0


@dataclass(frozen=True, eq=False)
class Front:
    """A problem, and what the best front covers."""

    name: str
    bounds: tuple[Any, ...]  # (low, high) of each coordinate, or its parameter
    function: Callable[[Any], Sequence[float]]  # the objectives' values at a point
    low: Array  # (m,) the best corner of the box
    high: Array  # (m,) the reference
    best: float  # what the best front covers
    unit: float = 1.0  # of the gap: 1 for COCO, elsewhere what the best front covers, so that the gap is a share of it

    @property
    def d(self) -> int:
        return len(self.bounds)

    @property
    def names(self) -> list[str]:
        return [f"f{k + 1}" for k in range(len(self.low))]

    def __call__(self, x: Any) -> dict[str, float]:
        return dict(zip(self.names, map(float, self.function(x)), strict=True))

    def gap(self, F: Array) -> float:  # (n, m) values
        inside = (F - self.low) / (self.high - self.low)
        covered = hypervolume(inside, np.ones(len(self.low)))
        away = 0.0 if covered else float(np.linalg.norm(np.maximum(inside - 1.0, 0.0), axis=1).min())
        return (self.best - covered) / self.unit + away


def hypervolume(F: Array, reference: Array) -> float:  # (n, m), (m,)
    """The volume of what the rows dominate, up to the reference: slab after slab along the last objective.

    Not aegisbo's own, which our strategies use: they are not to be their own judge.
    """
    F = F[(reference > F).all(axis=1)]
    if F.shape[1] == 1:
        return float(reference[0] - F.min(initial=reference[0]))
    F = F[F[:, -1].argsort()]
    heights = np.diff(F[:, -1], append=reference[-1])
    return float(sum(h * hypervolume(F[: k + 1, :-1], reference[:-1]) for k, h in enumerate(heights) if h))


def closed(name: str) -> Front:
    if name not in CLOSED:
        raise UnknownName("problem with several objectives", name, CLOSED)
    problem = CLOSED[name]
    high = np.array([*problem.front.reference.values()])
    low = np.array(LOWEST.get(name, np.zeros(len(high))))
    best = problem.front.hypervolume / float(np.prod(high - low))
    return Front(name, problem.bounds, problem.function, low, high, best, best)


def trainings(name: str) -> Front:
    """A table of real trainings, such as `table-hpolib-slice_localization/size`: the loss, and time or size."""
    data, _, second = name.partition("/")
    known = table(data)
    others = {"time": known.times} | ({} if known.sizes is None else {"size": known.sizes})
    if second not in others:
        raise UnknownName(f"second objective of {data}", second, others)
    values = np.column_stack([known.losses.ravel(), others[second].ravel()])
    values = values[np.lexsort(values.T[::-1])]
    front = values[np.diff(np.minimum.accumulate(values[:, 1]), prepend=np.inf) < 0]
    low, worst = front.min(axis=0), front.max(axis=0)
    high = low + WORST * (worst - low)
    best = hypervolume((front - low) / (high - low), np.ones(2))

    def function(x: Any) -> tuple[float, float]:
        place = known.place(x)
        return float(known.losses[place]), float(others[second][place])

    return Front(name, known.bounds, function, low, high, best, best)
