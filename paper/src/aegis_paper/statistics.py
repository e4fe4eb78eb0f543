"""The statistics of the paper's tables: medians, Wilcoxon's test with Holm's correction, and the range of a median."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import median_abs_deviation

from aegis_paper.reference.statistics import two_sided_p
from aegisbo.arrays import Array, as_vector
from aegisbo.simulation.comparison import FEWEST_RUNS, compare

LEVEL = 0.05  # of the test: a method whose corrected p is not below it counts as equivalent to the best
ENOUGH = 8  # runs: with fewer, no outcome is so rare that Holm's correction for eleven methods can reject


class Mark(StrEnum):
    """How a method stands on a problem among those of its table."""

    BEST = "best"  # the lowest median
    EQUIVALENT = "similar"  # no clear difference from the best
    WORSE = ""


def mad(values: ArrayLike) -> float:  # (n,)
    """The median absolute deviation from the median, times 1.4826: a standard deviation for normal values."""
    return float(median_abs_deviation(as_vector(values, "values"), scale="normal"))


def marks(
    scores: pd.DataFrame, *, two_sided: bool = False, sources: Mapping[str, Hashable] | None = None
) -> dict[str, Mark]:  # (runs, methods)
    """The best of the methods on one problem, and those equivalent to it by Wilcoxon's test with Holm's correction.

    Each method meets the best in the runs that both have. The paper's text tests one-sided, its code two-sided.

    Args:
        scores: one row per run, one column per method, lower is better; NaN where a method has no such run.
        two_sided: test as the published code did.
        sources: where the runs of each method come from; those of one source are the same method, whatever the test
            would say of them. Each method is one of its own if not given.

    Returns:
        A mark for each method that has runs.
    """
    run = scores.dropna(axis="columns", how="all")
    if run.empty:
        return {}
    best = run.median().idxmin()
    others = [method for method in run if method != best]
    sources = sources or {method: method for method in run}
    chances = (
        1.0 if sources[other] == sources[best] else chance(run[best], run[other], two_sided=two_sided)
        for other in others
    )
    corrected = holm([*chances])
    found = {other: Mark.EQUIVALENT if p >= LEVEL else Mark.WORSE for other, p in zip(others, corrected, strict=True)}
    return {best: Mark.BEST} | found


def chance(best: pd.Series, other: pd.Series, *, two_sided: bool = False) -> float:  # (runs,), (runs,)
    """How often luck alone would put `best` this far ahead, or more, in the runs that both have.

    One if they share too few runs to tell.
    """
    pairs = pd.concat([best, other], axis="columns").dropna().to_numpy()  # (shared runs, 2)
    if two_sided and len(pairs) >= FEWEST_RUNS:
        return two_sided_p(pairs[:, 0], pairs[:, 1])
    p = compare(pairs[:, 0], pairs[:, 1]).p_better
    return 1.0 if p is None else p


def holm(p: ArrayLike) -> Array:  # (m,) -> (m,)
    """Holm's corrected p-values, each of which may be compared with the level on its own."""
    from statsmodels.stats.multitest import multipletests  # seconds to load, and not every command tests

    p = as_vector(p, "p")
    if not len(p):
        return p
    gc.freeze()  # multipletests collects garbage at each call: without what exists already that takes no time
    try:
        return np.asarray(multipletests(p, method="holm")[1])
    finally:
        gc.unfreeze()


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


def span(numbers: Iterable[int]) -> str:
    """The smallest and the largest of some numbers of runs: 7–11, or 11 if all are equal."""
    ordered = sorted(numbers)
    return f"{ordered[0]}–{ordered[-1]}" if ordered[0] != ordered[-1] else f"{ordered[0]}"
