"""Deviation in the evaluation: how the code decided whether two methods differ.

The paper: one-sided paired Wilcoxon signed-rank tests of the best method against each other one, Holm-corrected.
The code: SciPy's default, two-sided test. If it was refused because all differences are zero, p was set to 0, so that
identical results were declared to be different. That was said of two methods, each run by itself: one set of runs under
two names never came to this test, and `marks` leaves it out.

What it changes: a two-sided p is about twice the one-sided one, so more methods count as equivalent to the best.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import wilcoxon

from aegisbo.arrays import Array


def two_sided_p(best: Array, other: Array) -> float:
    """The p-value that the code had for paired final regrets (n,) of the best method and another one."""
    if np.array_equal(best, other):
        return 0.0
    return float(wilcoxon(best, other).pvalue)
