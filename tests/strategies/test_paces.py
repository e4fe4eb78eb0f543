"""The paces of workers: known ones are recovered, points are not blamed for workers, and equal workers stay equal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from aegisbo.strategies import paces
from aegisbo.strategies.durations import learned
from aegisbo.strategies.paces import UNKNOWN, learned_together, paces_of
from aegisbo.strategies.timing import Timing

SLOW = np.array([1.0, 1.0, 4.0, 1.0, 4.0])


def seen(n: int, true: np.ndarray, seed: int = 0, scatter: float = 0.2):
    """Points, seconds and workers: ten times as long at one end of the first coordinate; free workers take jobs."""
    rng, free = np.random.default_rng(seed), np.zeros(len(true))
    X, workers, seconds = rng.random((n, 3)), np.zeros(n, dtype=int), np.zeros(n)
    for k, x in enumerate(X):
        workers[k] = free.argmin()
        seconds[k] = 10.0 ** x[0] * np.exp(scatter * rng.standard_normal()) * true[workers[k]]
        free[workers[k]] += seconds[k]
    return X, seconds, workers


@pytest.mark.parametrize(("n", "off"), [(60, 1.4), (200, 1.2)])
def test_paces_and_durations_are_recovered(n, off):
    durations, found = learned_together(*seen(n, SLOW))
    assert sorted(found) == [0, 1, 2, 3, 4]
    factors = np.array([found[k] for k in range(5)]) / SLOW
    assert (np.abs(np.log(factors)) < np.log(off)).all()
    Z = np.array([[0.2, 0.5, 0.5], [0.9, 0.5, 0.5]])
    np.testing.assert_allclose(durations.quantile(Z, 0.5), 10.0 ** Z[:, 0], rtol=0.3)


def test_points_are_not_blamed_for_slow_workers():
    """Whoever evaluated them scatters the seconds of points, unless it is taken into account."""
    X, seconds, workers = seen(60, SLOW)
    timing = Timing(X, seconds, workers)
    truth = 10.0 ** X[:, 0]
    ours, plain = (np.abs(np.log(d.quantile(X, 0.5) / truth)).mean() for d in (timing.durations, learned(X, seconds)))
    assert ours < 0.5 * plain
    np.testing.assert_allclose(np.log(timing.typical / truth).std(), 0.2, atol=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_equal_workers_change_nothing_at_all(seed):
    X, seconds, workers = seen(120, np.ones(8), seed, scatter=1.0)
    found, plain = Timing(X, seconds, workers), learned(X, seconds)
    assert found.paces == {}
    assert (found.durations.center, found.durations.spread) == (plain.center, plain.spread)
    np.testing.assert_array_equal(found.durations.slope, plain.slope)
    np.testing.assert_array_equal(found.durations.bend, plain.bend)
    np.testing.assert_array_equal(found.typical, seconds)


def test_workers_that_nobody_knows_are_alike():
    X, seconds, _ = seen(60, SLOW)
    assert Timing(X, seconds).paces == Timing(X, seconds, np.full(60, UNKNOWN)).paces == {}
    assert paces_of(np.array([5.0, 0.0]), np.array([0, 1])) == {}  # an evaluation each says nothing


def test_the_likelihood_is_that_of_normal_values_with_a_common_effect_in_each_group():
    """The definition, with the matrix of covariances; the scatter that is most likely, too."""
    rng, ratio = np.random.default_rng(2), 3.0
    groups = [rng.normal(size=k) + 2.0 * rng.normal() for k in (5, 2, 9)]
    means, counts = np.array([g.mean() for g in groups]), np.array([5.0, 2.0, 9.0])
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    value, middle = paces._likelihood(ratio, means, within, counts)
    y, which = np.concatenate(groups), np.repeat(range(3), (5, 2, 9))
    K = np.eye(16) + ratio * (which[:, None] == which)
    weights = np.linalg.solve(K, np.ones(16))
    assert middle == pytest.approx(weights @ y / weights.sum())
    scatter = (y - middle) @ np.linalg.solve(K, y - middle) / 16
    exact = multivariate_normal.logpdf(y, np.full(16, middle), scatter * K)
    assert value - 8 * np.log(2 * np.pi * np.e) == pytest.approx(exact)


def test_one_odd_evaluation_makes_no_slow_worker():
    rng = np.random.default_rng(0)
    excess, workers = 0.1 * rng.standard_normal(30), np.repeat(range(4), (14, 8, 6, 2))
    excess[28] += 5.0
    assert paces_of(excess, workers) == {}
    excess[29] += 5.0
    assert paces_of(excess, workers)[3] == pytest.approx(np.exp(5.0), rel=0.5)


def test_small_differences_do_not_count():
    rng = np.random.default_rng(0)
    workers = np.repeat(range(4), 100)
    assert paces_of(np.where(workers == 3, np.log(1.2), 0.0) + 0.01 * rng.standard_normal(400), workers) == {}
    found = paces_of(np.where(workers == 3, np.log(1.3), 0.0) + 0.01 * rng.standard_normal(400), workers)
    assert found[3] == pytest.approx(1.3, rel=0.02)
