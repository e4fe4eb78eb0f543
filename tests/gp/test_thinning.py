"""Which of many data are kept: the lowest, the newest, those around the best points, and a fair sample."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from aegisbo.gp.thinning import GOOD, evenly_spread, thinned

N, SIZE, D = 2000, 200, 3


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.random((N, D))
    return X, ((X - 0.3) ** 2).sum(axis=1) + 0.1 * rng.random(N)


def rows_of(X, y, size=SIZE, lengthscale=(1.0, 1.0, 1.0)):
    return thinned(X, y, np.array(lengthscale), size)


@pytest.mark.parametrize(("n", "most"), [(0, 5), (1, 5), (5, 5), (6, 5), (1000, 7), (10, 1)])
def test_rows_that_are_evenly_spread(n, most):
    rows = evenly_spread(n, most)
    assert len(rows) == min(n, most)
    if len(rows) > 1:
        assert (rows[0], rows[-1]) == (0, n - 1)
        assert np.ptp(np.diff(rows)) <= 1
        assert np.diff(rows).min() >= 1


def test_few_data_are_kept_in_full(data):
    X, y = data
    np.testing.assert_array_equal(rows_of(X[:SIZE], y[:SIZE]), np.arange(SIZE))


def test_so_many_are_kept_in_their_order(data):
    rows = rows_of(*data)
    assert len(rows) == SIZE
    assert (np.diff(rows) > 0).all()


def test_the_lowest_and_the_newest_are_kept(data):
    X, y = data
    rows = set(rows_of(X, y))
    assert set(np.argsort(y)[: SIZE // 4]) <= rows
    assert set(range(N - SIZE // 8, N)) <= rows


def test_neighbors_of_the_best_are_kept_by_distance_in_length_scales(data):
    X, y = data
    best = int(np.argmin(y))
    scales = np.array([0.1, 1.0, 10.0])
    near = np.argsort((((X - X[best]) / scales) ** 2).sum(axis=1))[: SIZE // 4 // GOOD]
    assert set(near) <= set(rows_of(X, y, lengthscale=scales))


def test_neither_the_order_of_all_but_the_newest_nor_earlier_calls_decide(data):
    X, y = data
    newest = SIZE // 4 + SIZE // 8  # of which some may be among the lowest
    order = np.append(np.random.default_rng(1).permutation(N - newest), np.arange(N - newest, N))
    there, here = rows_of(X, y), rows_of(X[order], y[order])
    np.testing.assert_array_equal(np.sort(order[here]), there)


def test_a_further_point_replaces_at_most_one_of_each_kind(data):
    X, y = data
    before, after = set(rows_of(X[:-1], y[:-1])), set(rows_of(X, y))
    assert len(after - before) <= GOOD


@pytest.mark.parametrize("levels", [None, 7])
def test_the_sample_is_fair(levels):
    """Also where coordinates have few levels, whose last bits are all zero."""
    X = np.random.default_rng(2).random((4000, D))
    X[:, :2] = X[:, :2] if levels is None else (np.floor(X[:, :2] * levels) + 0.5) / levels
    y = X[:, 2].argsort().argsort().astype(float)  # only the last coordinate decides what is low and near
    kept = rows_of(X, y, size=1000, lengthscale=(1e9, 1e9, 1.0))
    sample = kept[(y[kept] > 1000) & (kept < 3800)]  # not the newest
    assert len(sample) > 280
    for column in (0, 1):
        jittered = X[sample, column] + (0.0 if levels is None else 1.0 / levels) * (
            np.random.default_rng(3).random(len(sample)) - 0.5
        )
        assert kstest(jittered, "uniform").pvalue > 0.001
    assert kstest((y[sample] - 1000) / 3000, "uniform").pvalue > 0.001


def test_equal_points_do_no_harm():
    X, y = np.full((300, 2), 0.5), np.zeros(300)
    assert len(rows_of(X, y, size=100, lengthscale=(1.0, 1.0))) == 100
