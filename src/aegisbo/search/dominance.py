"""Two objectives, both minimized: who dominates whom, and how crowded the survivors stand.

A row of F dominates another if it is nowhere larger and somewhere smaller. Sorted by the first objective, then by the
second, a row can only be dominated by an earlier one; everything here rests on that sort and costs O(m log m).
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from aegisbo.arrays import Array, Index


def ranks(F: Array) -> Index:  # (m, 2) -> (m,)
    """The front of every row: 0 if nothing dominates it, else one more than the highest front among its dominators."""
    order = _lexicographic(F)
    first, second = F.take(order, axis=0).T
    distinct = np.ones(len(F), dtype=np.bool_)
    distinct[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    fronts = _fronts(second[distinct].tolist())
    result = np.empty(len(F), dtype=np.intp)
    result[order] = np.array(fronts, dtype=np.intp)[np.cumsum(distinct) - 1]
    return result


def _lexicographic(F: Array) -> Index:
    """The order (m,) by the first objective, then by the second, then as they came; `lexsort` is five times slower."""
    order = np.argsort(F[:, 0])  # vectorized by NumPy, but ties are left in any order
    first = F[order, 0]
    ties = np.zeros(len(F) + 1, dtype=np.bool_)
    ties[1:-1] = first[1:] == first[:-1]
    tied = order[where := np.flatnonzero(ties[1:] | ties[:-1])]
    order[where] = tied[np.lexsort((tied, F[tied, 1], F[tied, 0]))]
    return order


def _fronts(seconds: list[float]) -> list[int]:
    """Patience sorting: the fronts of distinct rows from their second objectives, taken in lexicographic order."""
    # Of distinct rows an earlier one dominates a later one exactly if its second objective is not larger. A row joins
    # a front only if it is below all its members there, so each front's last second objective is its lowest, and the
    # front holds a dominator of the next row exactly if that last value is <= the row's. The last values never
    # decrease from front to front (a row on front k + 1 is dominated from front k), hence the fronts that hold a
    # dominator are the first ones, and counting them by bisection gives the row's own front.
    last: list[float] = []
    fronts = []
    for second in seconds:
        front = bisect_right(last, second)
        if front == len(last):
            last.append(second)
        else:
            last[front] = second
        fronts.append(front)
    return fronts


def crowding(F: Array, ranks: Index) -> Array:  # (m, 2), (m,) -> (m,)
    """Crowding distance within the own front: the sides of the box between both neighbors, in units of the front."""
    # Along a front one objective rises while the other falls, so one sort finds the neighbors in both. Only copies
    # can tie; they keep the order in which they came.
    along = _lexicographic(F)
    order = along[np.argsort(ranks[along], kind="stable")]
    rows, fronts = F.take(order, axis=0), ranks[order]
    borders = np.ones(len(F) + 1, dtype=np.bool_)
    borders[1:-1] = fronts[1:] != fronts[:-1]
    first, last = np.flatnonzero(borders[:-1]), np.flatnonzero(borders[1:])
    extent = np.repeat(np.abs(rows[last] - rows[first]), last - first + 1, axis=0)  # (m, 2)
    sides = np.empty_like(rows)
    sides[1:-1] = np.abs(rows[2:] - rows[:-2])
    sides[first] = sides[last] = np.inf
    np.divide(sides, extent, out=sides, where=extent > 0.0)  # without extent the sides inside are already 0
    result = np.empty(len(F))
    result[order] = sides[:, 0] + sides[:, 1]
    return result
