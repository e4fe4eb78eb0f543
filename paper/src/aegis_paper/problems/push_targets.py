"""Where the pushed objects should end: the targets of the 51 instances, drawn by a seeded maximin design."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, frozen
from aegisbo.simulation.problem import INSTANCES

APART = 2.2  # the discs have diameter 2, so both fit on targets this far apart

_HALF_WIDTH = 5.0  # the arena is [-5, 5]^2
_SEED = 2021
_CANDIDATES = 5


@cache
def single_targets() -> Array:  # (51, 1, 2)
    """One target an instance."""
    return frozen(_maximin_design(np.random.default_rng([_SEED, 1]))[:, None, :])


@cache
def paired_targets() -> Array:  # (51, 2, 2)
    """Two targets an instance, on which both discs can lie at once."""
    rng = np.random.default_rng([_SEED, 2])
    first, second = _maximin_design(rng), _maximin_design(rng)
    while np.linalg.norm(first - second, axis=1).min() < APART:
        second = second[rng.random(INSTANCES).argsort()]
    return frozen(np.stack([first, second], axis=1))


def _maximin_design(rng: Generator) -> Array:  # (51, 2)
    """The Latin hypercube, out of a few, whose two closest points are farthest apart."""
    from scipy.spatial.distance import pdist  # here, because whoever only lists the problems need not load it

    designs = [_latin_hypercube(rng) for _ in range(_CANDIDATES)]
    return max(designs, key=lambda design: float(pdist(design).min()))


def _latin_hypercube(rng: Generator) -> Array:
    # Built from `random` alone, whose stream NumPy never changes: the targets are part of the problem.
    slices = rng.random((INSTANCES, 2)).argsort(axis=0)
    cells = (slices + rng.random((INSTANCES, 2))) / INSTANCES
    return np.asarray(_HALF_WIDTH * (2 * cells - 1))
