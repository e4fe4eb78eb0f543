"""Expected improvement without its logarithm: its value, its slope, and where its search stops."""

from __future__ import annotations

import numpy as np
import pytest
from aegis_paper.reference.improvement import Exponential, WithoutLogarithm
from scipy.stats import norm

from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import GP, condition
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import best_starts
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.penalization import soft_penalty
from aegisbo.strategies.product import product

PLANE = Cube((Continuous(), Continuous()))
NO_HINT = np.empty((0, 2))  # good points that a search may be told of


@pytest.fixture
def gp() -> GP:
    X = np.random.default_rng(0).random((8, 2))
    return condition(Matern52(np.array([0.3]), 1.5), 1e-4, X, np.cos(7 * X[:, 0]) + X[:, 1])


def test_the_objective_is_the_improvement_itself_with_its_sign_turned(gp: GP) -> None:
    Z = np.random.default_rng(1).random((40, 2))
    mu, var = gp.predict(Z)
    z = (-0.8 - mu) / np.sqrt(var)
    improvement = np.sqrt(var) * (norm.pdf(z) + z * norm.cdf(z))
    objective = Exponential(Improvement(gp, -0.8))
    np.testing.assert_allclose(objective.screen(Z), -improvement, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(objective.value_and_gradient(Z)[0], -improvement, rtol=1e-8, atol=1e-15)


def test_a_penalized_improvement_is_a_product(gp: GP) -> None:
    Z, P = np.random.default_rng(2).random((10, 2)), np.array([[0.4, 0.6], [0.9, 0.2]])
    penalty = soft_penalty(gp, P, -0.8, np.random.default_rng(3))
    distances = np.linalg.norm(Z[:, None] - P, axis=2)
    factors = norm.cdf((distances - penalty.radius) / penalty.blur).prod(axis=1)
    multiplied = Exponential(Improvement(gp, -0.8)).screen(Z) * factors
    objective = product(Improvement(gp, -0.8), penalty, chance=None)
    np.testing.assert_allclose(Exponential(objective).screen(Z), multiplied, rtol=1e-9)


def test_gradients_agree_with_differences(gp: GP) -> None:
    objective, z, h = Exponential(Improvement(gp, -0.8)), np.array([0.35, 0.7]), 1e-6
    differences = [
        (objective.screen((z + h * e)[None]) - objective.screen((z - h * e)[None])) / (2 * h) for e in np.eye(2)
    ]
    np.testing.assert_allclose(objective.value_and_gradient(z[None])[1][0], np.ravel(differences), rtol=1e-5)


def test_the_search_stops_at_once_where_the_improvement_is_tiny(gp: GP) -> None:
    """The logarithm is polished all the same."""
    hopeless = Improvement(gp, -9.0)
    Z = np.random.default_rng(4).random((2000, 2))
    assert np.exp(-hopeless.screen(Z)).max() < 1e-7
    search = EverywhereSearch(spread=lambda n, d, rng: Z)
    plain, logarithm = (
        each(hopeless, PLANE, np.random.default_rng(5), NO_HINT) for each in (WithoutLogarithm(search), search)
    )
    np.testing.assert_array_equal(np.sort(plain, axis=0), np.sort(Z[best_starts(hopeless.screen(Z), 10, None)], axis=0))
    assert hopeless.screen(logarithm[:1])[0] < hopeless.screen(plain[:1])[0] - 1e-6


def test_where_there_is_much_to_gain_both_find_the_same_point(gp: GP) -> None:
    search = EverywhereSearch()
    plain, logarithm = (
        each(Improvement(gp, 0.5), PLANE, np.random.default_rng(6), NO_HINT)[0]
        for each in (WithoutLogarithm(search), search)
    )
    np.testing.assert_allclose(plain, logarithm, atol=1e-3)
