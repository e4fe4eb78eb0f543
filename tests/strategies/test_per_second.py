"""Gain per second: what is chosen is the best of a dense grid, by the definition."""

from __future__ import annotations

import numpy as np
import pytest
from moving import exploit, pareto, thompson

from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.moves.thompson import posterior_path
from aegisbo.strategies.per_second import SOFTNESS, GainPerSecond, Quickness
from aegisbo.strategies.presets import MODERN
from aegisbo.strategies.product import by_lot

PLANE = Cube((Continuous(), Continuous()))
PRICE = Durations(1.0, np.array([2.0, 0.0]), np.zeros((2, 2)), 0.1)  # from 0.4 to 20 seconds along the first coordinate
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def gp():
    X = np.random.default_rng(0).random((14, 2))
    y = ((X - 0.6) ** 2).sum(axis=1) + 0.1 * np.cos(9 * X).sum(axis=1)
    none = np.empty((0, 2))
    return MODERN.surrogate.fit(Evidence(X, y, none, none, PLANE), {}, np.random.default_rng(0))[0].gp


def per_second(values, Z, best):
    """The definition, written out: softened gain over seconds."""
    gain = SOFTNESS * np.log1p(np.exp((best - values) / SOFTNESS))
    return gain / np.exp(PRICE.log_seconds(Z)[0])


def test_exploiting_maximizes_the_gain_of_the_mean_per_second(gp):
    best = (gp.y + gp.constant).min()
    x = exploit(gp, PLANE, MODERN.search, np.random.default_rng(1), PRICE)[:1]
    assert per_second(gp.mean(x), x, best)[0] >= per_second(gp.mean(GRID), GRID, best).max() * (1 - 1e-6)
    plain = exploit(gp, PLANE, MODERN.search, np.random.default_rng(1))[:1]
    assert PRICE.log_seconds(x)[0] < PRICE.log_seconds(plain)[0]


def test_thompson_sampling_maximizes_the_gain_of_the_sample_per_second(gp):
    best = (gp.y + gp.constant).min()
    path = posterior_path(gp, 500, np.random.default_rng(2))
    x = thompson(gp, PLANE, MODERN.search, 500, np.random.default_rng(2), PRICE)[:1]
    on_grid = per_second(path.value_and_gradient(GRID)[0], GRID, best)
    assert per_second(path.value_and_gradient(x)[0], x, best)[0] >= on_grid.max() * (1 - 1e-6)


def test_far_above_the_best_value_there_is_still_a_way_to_go():
    class Plain:
        def value_and_gradient(self, Z):
            return 1e3 * Z[:, 0], np.tile([1e3, 0.0], (len(Z), 1))

    value, gradient = GainPerSecond(Plain(), -50.0, PRICE).value_and_gradient(GRID)
    assert np.isfinite(value).all()
    assert (gradient[:, 0] > 1e3).all()


def test_what_takes_half_as_long_is_twice_as_likely_to_be_the_first():
    double = np.log(2.0) / 4.0  # of the first coordinate, which counts by 4 in log seconds
    Z = np.array([[0.5, 0.5], [0.5 + double, 0.5]])
    rng = np.random.default_rng(3)
    first = [by_lot([Quickness(PRICE)], Z, rng)[0] for _ in range(3000)]
    assert np.mean(np.equal(first, 0)) == pytest.approx(2 / 3, abs=4 * np.sqrt(2 / 9 / 3000))


def test_members_of_the_pareto_set_that_take_less_time_are_preferred(gp):
    def rank(seed):  # share of the members that take less time than the first
        choices = pareto(gp, PLANE, Pareto(population=20), np.random.default_rng(seed), PRICE)
        log_seconds = PRICE.log_seconds(choices)[0]
        return np.mean(log_seconds < log_seconds[0])

    assert np.mean([rank(seed) for seed in range(12)]) < 0.4  # 0.5 without a price
