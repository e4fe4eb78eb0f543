"""Problems with several objectives, all minimized, and how far a run is from the best front.

The score is the gap of hypervolume as COCO defines it for bbob-biobj. Values are moved to a box whose best corner is 0
and whose worst corner, the reference, is 1. A front covers the part of the box that it dominates; the gap is what the
best front covers and this one does not. While no point is in the box, the distance to the nearest one is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from aegisbo.arrays import Array
from aegisbo.errors import UnknownName
from benchmarks.problems.tables import table

WORST = 1.1  # the reference of problems with a known front, whose own values go from 0 to 1
PARAMETERS = 5  # of the problems with closed forms


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


def _zdt1(f: float, g: float) -> float:
    return g - (f * g) ** 0.5


def _zdt2(f: float, g: float) -> float:
    return g - f**2 / g


def _zdt3(f: float, g: float) -> float:
    return float(g - (f * g) ** 0.5 - f * np.sin(10 * pi * f))


def _zdt(name: str, second: Callable[[float, float], float], lowest: float, covered: float) -> Front:
    """One of Zitzler, Deb and Thiele (2000): the first objective is the first coordinate."""

    def function(x: Array) -> tuple[float, float]:
        return float(x[0]), second(float(x[0]), 1.0 + 9.0 * float(np.mean(x[1:])))

    low, high = np.array([0.0, lowest]), np.array([WORST, WORST])
    best = covered / float(np.prod(high - low))
    return Front(name, ((0.0, 1.0),) * PARAMETERS, function, low, high, best, best)


def _zdt3_front() -> Front:
    """Its front has five parts. They cover what the lower envelope covers, integrated with an error below 1e-6."""
    f = (np.arange(10**6) + 0.5) / 10**6
    envelope = np.minimum.accumulate(1.0 - np.sqrt(f) - f * np.sin(10 * pi * f))
    lowest = float(envelope[-1])
    return _zdt("ZDT3", _zdt3, lowest, float((WORST - envelope).mean()) + (WORST - 1.0) * (WORST - lowest))


def _dtlz2(m: int) -> Front:
    """Deb, Thiele, Laumanns and Zitzler (2005): the front is the part of the unit sphere where no value is negative."""

    def function(x: Array) -> list[float]:
        angles = np.asarray(x[: m - 1]) * pi / 2
        values = [1.0 + float(((np.asarray(x[m - 1 :]) - 0.5) ** 2).sum())] * m
        for k in range(m):
            values[k] *= float(np.cos(angles[: m - 1 - k]).prod() * (np.sin(angles[m - 1 - k]) if k else 1.0))
        return values

    best = 1.0 - {2: pi / 4, 3: pi / 6}[m] / WORST**m
    return Front(f"DTLZ2-m{m}", ((0.0, 1.0),) * PARAMETERS, function, np.zeros(m), np.full(m, WORST), best, best)


CLOSED: dict[str, Callable[[], Front]] = {
    "ZDT1": lambda: _zdt("ZDT1", _zdt1, 0.0, WORST - 1 + 2 / 3 + (WORST - 1) * WORST),
    "ZDT2": lambda: _zdt("ZDT2", _zdt2, 0.0, WORST - 1 + 1 / 3 + (WORST - 1) * WORST),
    "ZDT3": _zdt3_front,
    "DTLZ2-m2": lambda: _dtlz2(2),
    "DTLZ2-m3": lambda: _dtlz2(3),
}


def closed(name: str) -> Front:
    if name not in CLOSED:
        raise UnknownName("problem with several objectives", name, CLOSED)
    return CLOSED[name]()


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
