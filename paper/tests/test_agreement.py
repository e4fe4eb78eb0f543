"""Intervals that hold a median, against simulation and counting."""

from __future__ import annotations

import numpy as np
import pytest
from aegis_paper.agreement import Verdict, median_interval, verdict
from scipy.stats import binom


def depth(n: int) -> int:
    """k, when the interval goes from the k-th to the k-th last value."""
    interval = median_interval(np.random.default_rng(n).permutation(n) + 1)
    assert interval.low + interval.high == n + 1
    return int(interval.low)


def test_eleven_values_lose_one_at_each_end() -> None:
    interval = median_interval([11, 2, 9, 4, 7, 6, 5, 8, 3, 10, 1])
    assert (interval.low, interval.high) == (2, 10)


@pytest.mark.parametrize("n", [8, 10, 12, 15, 20, 33, 51])
def test_other_numbers_are_as_safe_and_no_wider_than_needed(n: int) -> None:
    safe = binom.cdf(1, 11, 0.5)
    k = depth(n)
    assert binom.cdf(k - 1, n, 0.5) <= safe < binom.cdf(k, n, 0.5)


def test_few_values_give_their_range() -> None:
    assert [depth(n) for n in range(1, 8)] == [1] * 7


def test_the_interval_holds_the_true_median_as_often_as_promised() -> None:
    samples = np.random.default_rng(0).exponential(size=(20_000, 11))
    inside = [interval.low <= np.log(2) <= interval.high for interval in map(median_interval, samples)]
    assert np.mean(inside) == pytest.approx(1 - 24 / 2048, abs=4 * np.sqrt(24 / 2048 / 20_000))


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (1.34, Verdict.AGREES),  # the 2nd value is 2: down to 1.333
        (1.33, Verdict.HIGHER),
        (14.99, Verdict.AGREES),  # the 10th is 10: up to 15
        (15.01, Verdict.LOWER),
    ],
)
def test_verdicts_allow_a_factor_at_each_end(published: float, expected: Verdict) -> None:
    assert verdict(range(1, 12), published) is expected


def test_four_runs_are_no_verdict() -> None:
    assert verdict([1, 2, 3, 4], 2.5) is Verdict.OPEN
    assert verdict([1, 2, 3, 4, 5], 2.5) is Verdict.AGREES
