"""What the paper's tables say of a problem: median, spread, and who is as good as the best (section 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import median_abs_deviation

from aegis_paper.reference.statistics import two_sided_p
from aegisbo.arrays import Array, as_vector
from aegisbo.simulation.comparison import FEWEST_RUNS, compare

LEVEL = 0.05  # of the test: a method whose corrected p is not below it counts as equivalent to the best
ENOUGH = 8  # runs: with fewer, no outcome is so rare that Holm's correction for eleven methods can reject

Scores = Mapping[int, float]  # by run, lower is better: runs of the same number are paired


class Mark(StrEnum):
    """How a method stands on a problem among those of its table."""

    BEST = "best"  # the lowest median
    EQUIVALENT = "similar"  # no clear difference from the best
    WORSE = ""


@dataclass(frozen=True)
class Summary:
    """The middle and the spread of the scores of some runs."""

    n: int
    median: float
    mad: float  # median absolute deviation from the median, times 1.4826: a standard deviation for normal scores


def summarize(values: ArrayLike) -> Summary:  # (n,)
    """Median and MAD as in the tables of the paper."""
    values = as_vector(values, "values")
    return Summary(len(values), float(np.median(values)), float(median_abs_deviation(values, scale="normal")))


def holm(p: ArrayLike) -> Array:  # (m,) -> (m,)
    """Holm's corrected p-values, each of which may be held against the level on its own."""
    p = as_vector(p, "p")
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def marks(scores: Mapping[str, Scores], *, two_sided: bool = False) -> dict[str, Mark]:
    """The best of the methods on one problem, and those equivalent to it by Wilcoxon's test with Holm's correction.

    Each method meets the best in the runs that both have. The paper's text tests one-sided, its code two-sided.
    Methods without runs get no mark.
    """
    run = {method: of for method, of in scores.items() if of}
    if not run:
        return {}
    best = min(run, key=lambda method: float(np.median([*run[method].values()])))
    others = [method for method in run if method != best]
    corrected = holm([chance(run[best], run[other], two_sided=two_sided) for other in others])
    found = {other: Mark.EQUIVALENT if p >= LEVEL else Mark.WORSE for other, p in zip(others, corrected, strict=True)}
    return {best: Mark.BEST} | found


def chance(best: Scores, other: Scores, *, two_sided: bool = False) -> float:
    """How often luck alone would put `best` this far ahead, or more, in the runs that both have.

    One if they share too few runs to tell.
    """
    shared = sorted(best.keys() & other.keys())
    ahead, behind = np.array([best[run] for run in shared]), np.array([other[run] for run in shared])
    if two_sided and len(shared) >= FEWEST_RUNS:
        return two_sided_p(ahead, behind)
    p = compare(ahead, behind).p_better
    return 1.0 if p is None else p


def span(numbers: Iterable[int]) -> str:
    """How many there are of each: 11, or 7–11."""
    ordered = sorted(numbers)
    return f"{ordered[0]}–{ordered[-1]}" if ordered[0] != ordered[-1] else f"{ordered[0]}"
