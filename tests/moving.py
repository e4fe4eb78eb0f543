"""The moves of AEGiS, for tests that have a posterior, or a belief, and no run."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import Scale
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import InnerSearch
from aegisbo.space.cube import Cube
from aegisbo.strategies import moves
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.moves import Front

Known = GP | Belief


def exploit(known: Known, cube: Cube, search: InnerSearch, rng: Generator, price: Durations | None = None) -> Array:
    return moves.exploit(*_seen(known, cube, price), search, rng)


def thompson(
    known: Known, cube: Cube, search: InnerSearch, features: int, rng: Generator, price: Durations | None = None
) -> Array:
    return moves.thompson(*_seen(known, cube, price), search, features, rng)


def pareto(known: Known, cube: Cube, front: Front, rng: Generator, price: Durations | None = None) -> Array:
    return moves.pareto(*_seen(known, cube, price), front, rng)


def _seen(known: Known, cube: Cube, price: Durations | None) -> tuple[Belief, Evidence]:
    belief = known if isinstance(known, Belief) else believed(known)
    none = np.empty((0, cube.width))
    return belief, Evidence(belief.gp.X, belief.gp.y, none, none, cube, timing=SimpleNamespace(price=price))


def believed(gp: GP) -> Belief:
    """The belief in a posterior as it is."""
    return Belief(gp, Scale(1.0, 0.0, 1.0), float(gp.y.min()) + gp.constant, [])
