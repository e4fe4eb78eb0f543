"""Where an evaluation without a value will end or would have: as far from its last report as others came from there.

The mean and the standard deviation of their ways are those of the prediction. This takes no account of the shape of a
curve, nor of where its point lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from aegisbo.arrays import Array
from aegisbo.stopping.curves import Curve

LEAST = 3  # evaluations with a value that reported at this step and before


class ExpectedEnd(NamedTuple):
    """Where an evaluation will end, in the user's direction and units."""

    value: float
    sd: float  # its standard deviation
    chance: float  # that it ends better than the best value measured so far


def chance_below(best: float, mean: float, sd: float) -> float:
    """The chance of an end with this mean and standard deviation to be below the best."""
    return 0.5 * erfc((mean - best) / (sd * sqrt(2.0))) if sd > 0.0 else float(mean < best)


def expected_ends(stopped: Sequence[Curve], ended: Sequence[Curve]) -> tuple[Array, Array]:  # (k,), (n,) -> (k,), (k,)
    """The mean and the standard deviation of the ends of evaluations; NaN where too few others can tell."""
    steps = np.array([curve.steps[-1] for curve in stopped])  # (k,)
    last = np.array([curve.values[-1] for curve in stopped])
    ends = np.array([np.nan if curve.end is None else curve.end for curve in ended])  # (n,)
    ways = ends[:, None] - np.array([curve.at(steps) for curve in ended]).reshape(len(ended), len(stopped))  # (n, k)
    known = np.isfinite(ways)
    enough = (known.sum(axis=0) >= LEAST) & np.isfinite(last)
    mean, sd = np.full(len(stopped), np.nan), np.full(len(stopped), np.nan)
    for k in np.flatnonzero(enough):
        some = ways[known[:, k], k]
        mean[k], sd[k] = last[k] + some.mean(), some.std(ddof=1)
    return mean, sd
