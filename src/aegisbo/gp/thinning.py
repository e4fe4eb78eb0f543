"""Some of many data: those that decide where the minimum is, and a sample of all others.

The cost of a posterior grows with the cube of its data. Near the minimum each of them counts; far away many say the
same. So the lowest are kept, the newest, which may contradict what the model has just proposed, and those around the
best points, which say how steep it is there. The rest is a random sample, in which a point is drawn by its coordinates:
the same data give the same sample, in whatever order they came in.
"""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from aegisbo.arrays import Array, Index

LOWEST, NEWEST, NEAREST = 1 / 4, 1 / 8, 1 / 4  # shares of what is kept
GOOD = 10  # best points whose neighbors are kept
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: spreads numbers that are alike


def evenly_spread(n: int, most: int) -> Index:
    """At most `most` of n rows, evenly spread over their order."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


def thinned(X: Array, y: Array, lengthscale: Array, size: int) -> Index:
    """The rows (size,) of X (n, d) and y (n,), the newest last, to keep, in their order; all if there are no more.

    Distances are measured in units of the length scales, one for each coordinate (d,) or one for all (1,).
    """
    n = len(X)
    if n <= size:
        return np.arange(n)
    kept = np.zeros(n, dtype=np.bool_)
    lowest = np.argsort(y, kind="stable")
    for order, share in (
        (lowest, LOWEST),
        (np.arange(n)[::-1], NEWEST),
        (np.argsort(_distances(X / lengthscale, lowest[:GOOD]), kind="stable"), NEAREST),
        (_shuffled(X), 1.0),
    ):
        room = size - np.count_nonzero(kept)
        kept[order[~kept[order]][: min(int(share * size), room)]] = True
    return np.flatnonzero(kept)


def _distances(U: Array, rows: Index) -> Array:
    """Squared distances (n,) of all points U (n, d) to the nearest one of these rows."""
    nearest = np.full(len(U), np.inf)
    for row in rows:
        np.minimum(nearest, ((U - U[row]) ** 2).sum(axis=1), out=nearest)
    return nearest


def _shuffled(X: Array) -> Index:
    """An order (n,) that looks random but depends only on the coordinates of the points."""
    weights = default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = (np.ascontiguousarray(X).view(np.uint64) * weights).sum(axis=1)  # modulo 2⁶⁴
    mixed = (mixed ^ (mixed >> np.uint64(29))) * GOLDEN
    return np.argsort(mixed ^ (mixed >> np.uint64(32)), kind="stable")
