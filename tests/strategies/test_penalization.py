"""Penalties against their definitions and differences; Lipschitz constants against dense grids."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition
from aegisbo.space.cube import ABSENT
from aegisbo.strategies import penalization
from aegisbo.strategies.penalization import Penalty, hard_penalty, lipschitz, soft_penalty

P = np.array([[0.2, 0.9, 0.4], [0.25, 0.8, 0.5], [0.9, 0.1, 0.1]])
RADIUS = np.array([0.3, 0.05, 0.6])
BLUR = np.array([0.1, 0.02, 0.003])


def difference(f, x, h):
    """Derivative of f at x from four values, exact for polynomials up to degree four."""
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)


def posterior(seed, d, lengthscale=(0.4,), noise=1e-4):
    """Twelve values of a smooth function: its posterior mean has no two peaks of nearly the same slope."""
    X = np.random.default_rng([seed, d]).random((12, d))
    y = np.sin(X @ np.array([4.0, -2.0])[:d]) + X[:, -1] ** 2
    return condition(Matern52(np.array(lengthscale), 1.5), noise, X, y)


def grid(d, points, low=0.0, high=1.0):
    """(points^d, d) with the corners of the box."""
    low, high = np.broadcast_to(low, (d,)), np.broadcast_to(high, (d,))
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)


def log_factor(distance, radius, blur, hard):
    """One log φ_j, as written in the papers."""
    if hard:
        return np.log(((distance / (radius + blur)) ** -5.0 + 1.0) ** (-1.0 / 5.0))
    return norm.logcdf((distance - radius) / blur)


def logarithm(penalty, Z):
    """log of the product of all factors, and its gradient: a penalty is the negative of both."""
    value, gradient = penalty.value_and_gradient(Z)
    np.testing.assert_array_equal(penalty.screen(Z), value)
    return -value, -gradient


@pytest.mark.parametrize("hard", [False, True])
def test_penalty_is_the_product_of_its_factors(hard):
    Z = np.vstack([np.random.default_rng(0).random((50, 3)), P + 0.02])
    value, gradient = logarithm(Penalty(P, RADIUS, BLUR, hard), Z)
    assert value.shape == (53,)
    assert gradient.shape == (53, 3)
    each = [log_factor(np.linalg.norm(Z - x, axis=1), r, s, hard) for x, r, s in zip(P, RADIUS, BLUR, strict=True)]
    np.testing.assert_allclose(value, np.sum(each, axis=0), rtol=1e-10)
    assert (value <= 0.0).all()
    assert (np.max(each, axis=1) > np.log(0.9)).all()  # each factor lets some points pass ...
    assert (np.min(each, axis=1) < np.log(0.5)).all()  # ... and hinders others


@pytest.mark.parametrize("hard", [False, True])
def test_gradient_of_a_penalty_is_its_difference(hard):
    penalty = Penalty(P, RADIUS, BLUR, hard)
    Z = np.vstack([np.random.default_rng(1).random((50, 3)), P + 1e-3, P + np.array([0.02, -0.01, 0.0])])
    gradient = logarithm(penalty, Z)[1]
    for i, axis in enumerate(np.eye(3)):
        slope = difference(lambda t, axis=axis: logarithm(penalty, Z + t * axis)[0], 0.0, 1e-5)
        np.testing.assert_allclose(gradient[:, i], slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("hard", [False, True])
def test_a_penalty_grows_from_nothing_to_one_with_the_distance(hard):
    penalty = Penalty(P[:1], RADIUS[:1], BLUR[:1], hard)
    away = np.linspace(0.0, 20.0, 4001)[:, None] * np.array([0.6, -0.8, 0.0])
    value, gradient = logarithm(penalty, P[0] + away)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    share = np.exp(value)
    assert (np.diff(share) >= 0.0).all()
    assert share[0] == pytest.approx(0.0, abs=2e-3)
    assert share[-1] == pytest.approx(1.0, abs=1e-8)
    assert (gradient @ np.array([0.6, -0.8, 0.0]) >= 0.0).all()


@pytest.mark.parametrize("t", [50.0, 1e4, 1e6, 1e8])
def test_the_logarithm_of_a_soft_penalty_survives_where_the_penalty_vanishes(t):
    direction, blur = np.array([0.6, 0.8]), 0.5 / t
    penalty = Penalty(np.zeros((1, 2)), np.array([1.0]), np.array([blur]), hard=False)
    value, gradient = logarithm(penalty, 0.5 * direction[None, :])  # t blurs inside the edge
    assert value[0] == pytest.approx(norm.logcdf(-t), rel=1e-12)
    hazard = t + 1.0 / t - 2.0 / t**3  # φ/Φ at -t, but for 10 / t⁵
    np.testing.assert_allclose(gradient[0], hazard / blur * direction, rtol=1e-9)


@pytest.mark.parametrize("hard", [False, True])
def test_nothing_pending_penalizes_nothing(hard):
    value, gradient = logarithm(Penalty(P[:0], RADIUS[:0], BLUR[:0], hard), P)
    np.testing.assert_array_equal(value, 0.0)
    np.testing.assert_array_equal(gradient, 0.0)


def test_penalties_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Penalty(P, RADIUS, BLUR, hard=True).hard = False


# The slopes behind them


def steepest(gp, low, high, points):
    """The largest slope of the posterior mean on a grid over a box."""
    return np.linalg.norm(gp.mean_and_gradient(grid(gp.X.shape[1], points, low, high))[1], axis=1).max()


def lipschitz_of_cube(gp, rng):
    d = gp.X.shape[1]
    return lipschitz(gp, np.zeros((1, d)), np.ones((1, d)), rng)[0]


@pytest.mark.parametrize(("d", "points"), [(1, 2001), (2, 151)])
@pytest.mark.parametrize("seed", range(6))
def test_lipschitz_is_the_steepest_slope_of_the_mean(seed, d, points):
    gp = posterior(seed, d)
    found = lipschitz_of_cube(gp, np.random.default_rng(seed))
    on_grid = steepest(gp, 0.0, 1.0, points)
    assert found >= on_grid * (1.0 - 1e-9)
    assert found == pytest.approx(on_grid, rel=1e-3)


@pytest.mark.parametrize("d", [1, 2])
def test_lipschitz_of_a_linear_function_is_its_slope(d):
    X = grid(d, 6)
    y = X @ np.array([3.0, -4.0])[:d]
    gp = condition(Matern52(np.array([2.0]), 100.0), 1e-8, X, y)
    found = lipschitz_of_cube(gp, np.random.default_rng(0))
    assert found == pytest.approx([3.0, 5.0][d - 1], rel=0.02)


def test_lipschitz_knows_only_its_box():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    gp = condition(Matern52(np.array([0.2]), 1.0), 1e-6, X, np.tanh(20.0 * (X[:, 0] - 0.8)) + 0.5 * X[:, 0])
    low, high = np.array([[0.1], [0.55], [0.0]]), np.array([[0.45], [0.7], [1.0]])  # steeper from one to the next
    found = lipschitz(gp, low, high, np.random.default_rng(0))
    np.testing.assert_allclose(found, [steepest(gp, *box, 2001) for box in zip(low, high, strict=True)], rtol=1e-3)
    assert 2.0 * found[0] < found[1] < 0.5 * found[2]


def test_each_box_is_climbed_as_scipy_climbs_it_alone():
    gp = posterior(1, 2, lengthscale=(0.2, 0.3))
    rng, alone = np.random.default_rng(4), np.random.default_rng(4)
    low = np.random.default_rng(5).random((7, 2)) * 0.6
    high = low + np.array([0.1, 0.4])
    found = lipschitz(gp, low, high, rng)
    for one, box in zip(found, zip(low, high, strict=True), strict=True):
        samples = alone.uniform(*box, (penalization.LIPSCHITZ_SAMPLES, 2))
        start = samples[np.linalg.norm(gp.mean_and_gradient(samples)[1], axis=1).argmax()]
        climbed = minimize(lambda x: -gp.steepness(x[None])[0][0], start, method="L-BFGS-B", bounds=np.transpose(box))
        assert one == pytest.approx(-climbed.fun, rel=1e-6)
    assert rng.random() == alone.random()


def test_lipschitz_climbs_beyond_its_samples(monkeypatch):
    monkeypatch.setattr(penalization, "LIPSCHITZ_SAMPLES", 3)
    gp = posterior(3, 2)
    found = lipschitz_of_cube(gp, np.random.default_rng(2))
    samples = np.random.default_rng(2).random((3, 2))
    assert found > 1.05 * np.linalg.norm(gp.mean_and_gradient(samples)[1], axis=1).max()
    assert found == pytest.approx(steepest(gp, 0.0, 1.0, 151), rel=1e-3)


def test_a_flat_mean_says_nothing_about_slopes():
    gp = posterior(0, 2)
    found = [
        lipschitz_of_cube(condition(gp.kernel, gp.noise, gp.X, scale * gp.y), np.random.default_rng(0))
        for scale in (0.0, 1e-9, 1e-6)
    ]
    assert found[:2] == [10.0, 10.0]
    assert found[2] < 1e-3


def plateau(step, lengthscale):
    """Steepest inside the cube at (step, 1); outside it falls from the plateau to the prior mean, steeper still."""
    X = grid(2, 9)
    y = 8.0 + (1.0 + X[:, 1]) * np.tanh(8.0 * (X[:, 0] - step))
    return condition(Matern52(np.array(lengthscale), 10.0), 1e-4, X, y)


PENDING = np.array([[0.02, 0.5], [0.4, 0.97], [0.99, 0.05], [0.55, 0.45]])


def assert_balls(penalty, gp, L):
    mu, var = gp.predict(PENDING)
    np.testing.assert_array_equal(penalty.P, PENDING)
    np.testing.assert_allclose(penalty.radius, np.abs(mu - gp.y.min()) / L, rtol=1e-3)
    np.testing.assert_allclose(penalty.blur, np.sqrt(var + gp.noise) / L, rtol=1e-3)


@pytest.mark.parametrize("step", [0.1, 0.9])
def test_soft_penalty_has_one_slope_for_the_cube(step):
    gp = plateau(step, (0.3,))
    penalty = soft_penalty(gp, PENDING, gp.y.min(), np.random.default_rng(0))
    assert_balls(penalty, gp, steepest(gp, 0.0, 1.0, 151))
    assert not penalty.hard


@pytest.mark.parametrize("lengthscale", [(0.4, 0.6), (0.4,)])
def test_hard_penalty_has_a_slope_for_each_pending_point(lengthscale):
    gp = plateau(0.4, lengthscale)
    penalty = hard_penalty(gp, PENDING, gp.y.min(), np.random.default_rng(0))
    half = np.array(lengthscale) / 2.0
    boxes = [(np.clip(x - half, 0.0, 1.0), np.clip(x + half, 0.0, 1.0)) for x in PENDING]
    assert_balls(penalty, gp, np.array([steepest(gp, low, high, 151) for low, high in boxes]))
    assert penalty.hard


def test_a_hard_penalty_looks_where_absent_parameters_stay_absent():
    gp, x = plateau(0.4, (0.4, 0.6)), np.array([[0.4, ABSENT]])
    penalty = hard_penalty(gp, x, gp.y.min(), np.random.default_rng(0))
    slope = steepest(gp, [0.2, ABSENT], [0.6, ABSENT], 151)
    np.testing.assert_allclose(penalty.radius, np.abs(gp.predict(x)[0] - gp.y.min()) / slope, rtol=1e-3)


def test_a_point_without_uncertainty_still_has_a_blur():
    gp = posterior(4, 2, noise=0.0)
    penalty = soft_penalty(gp, gp.X[:1], gp.y.min(), np.random.default_rng(0))
    value, gradient = logarithm(penalty, np.random.default_rng(1).random((100, 2)))
    assert penalty.blur[0] > 0.0
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
