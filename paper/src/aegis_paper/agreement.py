"""Whether our runs agree with a median that somebody else published."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from aegisbo.arrays import as_vector
from aegisbo.simulation.comparison import FEWEST_RUNS

# The second of eleven values lies above the true median if at most one of them is below it: 12 cases of 2048.
RISK = Fraction(1 + 11, 2**11)  # at each end
SLACK = 1.5  # identical algorithms in the paper's own tables differ by such a factor, from run to run


class Verdict(StrEnum):
    """How our median stands to a published one."""

    AGREES = "agrees"
    LOWER = "lower"  # than can be explained by chance: ours is better
    HIGHER = "higher"
    OPEN = "too few"  # runs to tell


@dataclass(frozen=True)
class Interval:
    """A range in which the median of a method lies almost surely."""

    low: float
    high: float

    def widened(self, factor: float) -> Interval:
        """The range with each end moved outwards by a factor; for numbers above zero."""
        return Interval(self.low / factor, self.high * factor)


def median_interval(values: ArrayLike) -> Interval:  # (n,)
    """From the k-th value to the k-th last: k = 2 for eleven values, and just as safe for any other number.

    With seven values or fewer no choice is as safe: the whole range must do.
    """
    ordered = np.sort(as_vector(values, "values"))
    n = len(ordered)
    cases = accumulate(comb(n, below) for below in range(n))  # of 2^n, in which at most so many are below the median
    k = max(1, sum(each <= RISK * 2**n for each in cases))
    return Interval(float(ordered[k - 1]), float(ordered[-k]))


def verdict(values: ArrayLike, published: float) -> Verdict:  # (n,)
    """Whether the published median could be that of the method which gave us these values."""
    values = as_vector(values, "values")
    if len(values) < FEWEST_RUNS:
        return Verdict.OPEN
    interval = median_interval(values).widened(SLACK)
    if published < interval.low:
        return Verdict.HIGHER
    return Verdict.AGREES if published <= interval.high else Verdict.LOWER
