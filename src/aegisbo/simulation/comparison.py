"""Statistics of a few runs: median and quartiles of one strategy, and two strategies compared run by run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from aegisbo.arrays import Array, as_vector

FEWEST_RUNS = 5  # with fewer, no outcome is rarer than one in twenty, so a test could decide nothing


class Quartiles(NamedTuple):
    """The median of some numbers, and the range of their middle half."""

    low: float
    median: float
    high: float


def quartiles(values: Sequence[float], method: Literal["linear", "inverted_cdf"] = "linear") -> Quartiles:  # (n,)
    """The three quartiles: linear between neighbors, or with "inverted_cdf" each of them one of the values."""
    return Quartiles(*np.quantile(values, [0.25, 0.5, 0.75], method=method).tolist())


@dataclass(frozen=True)
class Comparison:
    """How a strategy fared against a reference in runs that shared their start and job times."""

    better: int
    worse: int
    equal: int
    p_better: float | None  # chance to look this much better, or more, when both are equally good
    p_worse: float | None  # likewise; both None if the runs are too few to tell


def compare(scores: ArrayLike, reference: ArrayLike) -> Comparison:  # (n,), (n,)
    """Compare the scores of a strategy (lower is better) with those of the reference in the same runs.

    The chances are those of Wilcoxon's signed-rank test: exact, one-sided, with equal pairs left out. Differences of
    one size share their ranks.
    """
    scores = as_vector(scores, "scores")
    difference = scores - as_vector(reference, "reference", length=len(scores))
    better, worse = int(np.sum(difference < 0)), int(np.sum(difference > 0))
    p_better = p_worse = None
    if len(scores) >= FEWEST_RUNS:
        unequal = difference[difference != 0]
        p_better, p_worse = _chance(-unequal), _chance(unequal)
    return Comparison(better, worse, len(scores) - better - worse, p_better, p_worse)


def _chance(difference: Array) -> float:
    """The chance of a rank sum of positive differences this large or larger, if all signs are equally likely."""
    ranks = np.rint(2.0 * rankdata(np.abs(difference))).astype(np.intp)  # doubled: shared ones are whole numbers, too
    chances = np.ones(1)  # of each sum of the ranks so far
    for rank in ranks:
        without = np.append(chances, np.zeros(rank))
        chances = 0.5 * (without + np.roll(without, rank))
    return min(float(chances[ranks[difference > 0].sum() :].sum()), 1.0)
