"""Space-filling points in the unit cube."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.spatial import KDTree
from scipy.spatial.distance import pdist

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput

MOST = 1_000_000  # points that are spread out together
MOST_IN_PAIRS = 3000  # points whose distances are listed in full; the list grows with the square


def latin_hypercube(n: int, d: int, rng: Generator) -> Array:  # (n, d)
    """One point, at a random place, in each of the n equal slices of every coordinate."""
    slices = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    return np.asarray((slices + rng.random((n, d))) / n)


def maximin_latin_hypercube(n: int, d: int, rng: Generator, candidates: int = 5) -> Array:  # (n, d)
    """The Latin hypercube, out of some, whose two closest points are farthest apart.

    Raises:
        InvalidInput: there are so many points that memory would not hold them.
    """
    if n > MOST:
        raise InvalidInput(f"A Latin hypercube of {n:,} points is too large: let at most {MOST:,} be spread out.")
    designs = [latin_hypercube(n, d, rng) for _ in range(candidates)]
    return max(designs, key=_smallest_distance)


def _smallest_distance(X: Array) -> float:
    if len(X) > MOST_IN_PAIRS:
        return float(KDTree(X).query(X, k=2)[0][:, 1].min())
    return float(pdist(X).min(initial=np.inf))


def sobol(n: int, d: int, rng: Generator, skip: int = 0) -> Array:  # (n, d)
    """Points skip, ..., skip + n - 1 of the scrambled Sobol' sequence that the state of `rng` selects.

    The state alone decides, so a fresh `rng` in the same state continues the same sequence.
    """
    from scipy.stats import qmc  # here, because it takes longer to load than all the rest

    # An integer, because from a Generator SciPy takes a child, which ignores how far that one has advanced;
    # as `seed`, because SciPy before 1.15 knows no `rng`.
    engine = qmc.Sobol(d, seed=int(rng.integers(2**63)))
    if skip:
        return np.asarray(engine.fast_forward(skip).random(n))
    return np.asarray(engine.random_base2(max(n - 1, 0).bit_length())[:n])  # SciPy warns of any other length
