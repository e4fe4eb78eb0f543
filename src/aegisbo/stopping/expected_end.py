"""Where a stopped evaluation would have ended: as far from where it was stopped as the others came from there.

The mean and the standard deviation of their ways are those of the prediction. This takes no account of the shape of a
curve, nor of where its point lies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aegisbo.arrays import Array
from aegisbo.stopping.curves import Curve

LEAST = 3  # evaluations with a value that reported at this step and before


def expected_ends(stopped: Sequence[Curve], ended: Sequence[Curve]) -> tuple[Array, Array]:  # (k,), (n,) -> (k,), (k,)
    """The mean and the standard deviation of the ends of stopped evaluations; NaN where too few others can tell.

    None is expected to be better than the best that ended: nothing that was only expected may pass for the best.
    """
    steps = np.array([curve.steps[-1] for curve in stopped])  # (k,)
    last = np.array([curve.values[-1] for curve in stopped])
    ends = np.array([np.nan if curve.end is None else curve.end for curve in ended])  # (n,)
    ways = ends[:, None] - np.array([curve.at(steps) for curve in ended]).reshape(len(ended), len(stopped))  # (n, k)
    known = np.isfinite(ways)
    enough = (known.sum(axis=0) >= LEAST) & np.isfinite(last)
    mean, sd = np.full(len(stopped), np.nan), np.full(len(stopped), np.nan)
    for k in np.flatnonzero(enough):
        some = ways[known[:, k], k]
        mean[k], sd[k] = max(last[k] + some.mean(), np.nanmin(ends)), some.std(ddof=1)
    return mean, sd
