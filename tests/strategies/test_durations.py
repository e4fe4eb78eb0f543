"""How long evaluations take: known laws are recovered, quantiles hold, and what cannot be told apart is left alike."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.strategies import durations
from aegisbo.strategies.durations import Durations, learned
from aegisbo.strategies.hurry import InTime
from aegisbo.strategies.per_second import GainPerSecond, Quickness

LAWS = {
    "slopes": lambda X: 1.0 + 3.0 * X[:, 0] - 2.0 * X[:, 1],
    "squares": lambda X: 4.0 * (X[:, 0] - 0.3) ** 2 - 2.0 * X[:, 2] ** 2,
    "products": lambda X: 2.0 * X[:, 0] + 6.0 * X[:, 1] * X[:, 2] - 5.0,
}


def cube(n: int, seed: int = 0, width: int = 3):
    return np.random.default_rng(seed).random((n, width))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_is_recovered(law):
    X, Z = cube(60), cube(40, seed=1)
    found = learned(X, np.exp(law(X)))
    assert found.informed
    np.testing.assert_allclose(found.log_seconds(Z)[0], law(Z), atol=0.03)
    assert found.spread < 0.03


def test_what_is_left_out_is_predicted_as_if_it_had_never_been_seen():
    X, rng = cube(12), np.random.default_rng(4)
    y = 2.0 * X[:, 0] + 0.3 * rng.normal(size=12)
    y -= y.mean()

    def error_without(k, ridge):
        rest = np.arange(12) != k
        terms, middle = X[rest] - X[rest].mean(axis=0), y[rest].mean()
        weights = np.linalg.solve(terms.T @ terms + ridge * np.eye(3), terms.T @ (y[rest] - middle))
        return y[k] - middle - (X[k] - X[rest].mean(axis=0)) @ weights

    errors = [np.mean([error_without(k, ridge) ** 2 for k in range(12)]) for ridge in durations.RIDGES]
    found, weights, _ = durations._ridge(X, y)
    assert found == pytest.approx(min(errors))
    terms = X - X.mean(axis=0)
    ridge = durations.RIDGES[int(np.argmin(errors))]
    np.testing.assert_allclose(weights, np.linalg.solve(terms.T @ terms + ridge * np.eye(3), terms.T @ (y - y.mean())))


def test_a_quantile_holds_for_points_that_were_not_seen():
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Z = rng.random((40, 3)), rng.random((200, 3))
        law = LAWS["slopes"]
        found = learned(X, np.exp(law(X) + 0.5 * rng.normal(size=40)))
        held.append(np.mean(np.exp(law(Z) + 0.5 * rng.normal(size=200)) <= found.quantile(Z, 0.8)))
    assert 0.75 < np.mean(held) < 0.87


@pytest.mark.parametrize(
    "law",
    [
        lambda X: np.full(len(X), 7.0),
        lambda X: 7.0 + 1e-13 * X[:, 0],  # rounding
        lambda X: 7.0 * np.exp(0.1 * X[:, 0]),  # hardly different
        lambda X: np.random.default_rng(0).lognormal(size=len(X)),  # different, but not by the points
        lambda X: 1e-4 * X[:, 0],  # too short to matter
    ],
    ids=["equal", "rounded", "even", "chance", "short"],
)
def test_where_times_teach_nothing_all_points_are_expected_to_take_equally_long(law):
    X = cube(30)
    seconds = np.maximum(law(X), durations.SHORTEST)
    found = learned(X, law(X))
    assert not found.informed
    np.testing.assert_allclose(np.exp(found.log_seconds(cube(5, seed=1))[0]), np.exp(np.log(seconds).mean()))


def test_chance_is_seldom_taken_for_a_law():
    times = [np.random.default_rng([9, seed]).lognormal(size=20) for seed in range(200)]
    assert np.mean([learned(cube(20, seed), seconds).informed for seed, seconds in enumerate(times)]) < 0.1


def test_a_few_times_are_only_averaged():
    assert not learned(cube(4), np.array([1.0, 10.0, 100.0, 1000.0])).informed
    assert learned(cube(1), np.array([3.0])).quantile(cube(2), 0.8) == pytest.approx(3.0)


def test_of_very_many_times_some_are_looked_at():
    X = cube(5000)
    found = learned(X, np.exp(LAWS["slopes"](X)))
    some = np.linspace(0, 4999, durations.LEARNED_FROM).round().astype(int)
    again = learned(X[some], np.exp(LAWS["slopes"](X[some])))
    np.testing.assert_array_equal(found.slope, again.slope)


class Bowl:
    def screen(self, Z):
        return ((Z - 0.4) ** 2).sum(axis=1)

    def value_and_gradient(self, Z):
        return self.screen(Z), 2.0 * (Z - 0.4)


FOUND = Durations(0.3, np.array([1.0, -2.0, 0.5]), np.array([[0.5, 0.2, 0], [0.2, -0.3, 0], [0, 0, 0.1]]), 0.4)


@pytest.mark.parametrize(
    "function",
    [
        FOUND.log_seconds,
        Quickness(FOUND).value_and_gradient,
        InTime(FOUND, 1.5).value_and_gradient,
        GainPerSecond(Bowl(), 0.2, FOUND).value_and_gradient,
    ],
    ids=["expected", "quickness", "in time", "gain per second"],
)
def test_gradients_are_those_of_finite_differences(function):
    Z, step = cube(6, seed=3), 1e-6
    _, gradient = function(Z)
    for k in range(3):
        moved = step * np.eye(3)[k]
        slope = (function(Z + moved)[0] - function(Z - moved)[0]) / (2 * step)
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-5, atol=1e-7)
