"""The quadratic model: its covariance by definition, its gradients by differences, what it learns from few points."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.gp.quadratic_model import QuadraticGP, QuadraticLikelihood, fit


def bowl(d: int, seed: int, condition: float = 1e4):
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    center, widths = rng.standard_normal(d), condition ** np.linspace(0, 1, d)
    return lambda X: ((X - center) @ turn) ** 2 @ widths


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((25, 3))
    y = bowl(3, 2, 10.0)(X) + np.sin(3 * X[:, 0])
    return X, (y - y.mean()) / y.std()


def covariance(gp: QuadraticGP, a: np.ndarray, b: np.ndarray) -> float:
    """s M(l) + s b (p + p²), as the module's first lines say it."""
    c = np.sqrt(5) * np.linalg.norm(a - b) / gp.kernel.lengthscale[0]
    p = a @ b / len(a)
    return gp.kernel.outputscale * (1 + c + c**2 / 3) * np.exp(-c) + gp.bowl * (p + p**2)


def test_the_posterior_is_the_one_by_definition(data) -> None:
    gp = QuadraticLikelihood(*data).posterior(np.array([0.3, 0.5, -3.0]))
    X, y = data
    Z = np.random.default_rng(3).standard_normal((4, 3))
    K = np.array([[covariance(gp, a, b) for b in X] for a in X]) + gp.noise * np.eye(len(X))
    k = np.array([[covariance(gp, a, z) for z in Z] for a in X])
    prior = np.array([covariance(gp, z, z) for z in Z])
    mean, variance = gp.predict(Z)
    np.testing.assert_allclose(mean, gp.constant + k.T @ np.linalg.solve(K, y - gp.constant), rtol=1e-8)
    np.testing.assert_allclose(variance, prior - np.einsum("nm,nm->m", k, np.linalg.solve(K, k)), rtol=1e-6)
    np.testing.assert_allclose(gp.mean(Z), mean, rtol=1e-12)


def test_gradients_are_those_of_differences(data) -> None:
    gp, h = fit(*data), 1e-6
    z = np.array([[0.3, -0.4, 0.9]])
    _, _, of_mean, of_variance = gp.predict_and_gradient(z)
    for i, step in enumerate(h * np.eye(3)):
        ahead, behind = gp.predict(z + step), gp.predict(z - step)
        assert of_mean[0, i] == pytest.approx((ahead[0] - behind[0])[0] / (2 * h), rel=1e-4, abs=1e-6)
        assert of_variance[0, i] == pytest.approx((ahead[1] - behind[1])[0] / (2 * h), rel=1e-3, abs=1e-6)


def test_the_likelihood_climbs_by_its_own_gradient(data) -> None:
    likelihood, phi, h = QuadraticLikelihood(*data), np.array([0.3, 0.5, -3.0]), 1e-5
    gradient = likelihood.value_and_gradient(phi)[1]
    for i, step in enumerate(h * np.eye(3)):
        change = likelihood.value_and_gradient(phi + step)[0] - likelihood.value_and_gradient(phi - step)[0]
        assert gradient[i] == pytest.approx(change / (2 * h), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_turned_and_narrow_bowl_is_learned_from_as_many_points_as_it_has_coefficients(seed: int) -> None:
    d, function = 4, bowl(4, seed)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(((d + 1) * (d + 2) // 2 + 2, d))
    y = function(X)
    gp = fit(X, (y - y.mean()) / y.std())
    Z = rng.standard_normal((50, d))
    error = gp.mean(Z) * y.std() + y.mean() - function(Z)
    assert np.abs(error).max() < 1e-3 * y.std()


def test_data_that_come_later_count_as_if_they_had_been_there(data) -> None:
    X, y = data
    phi = np.array([0.3, 0.5, -3.0])
    whole = QuadraticLikelihood(X, y).posterior(phi)
    part = QuadraticLikelihood(X[:20], y[:20]).posterior(phi)
    # The constant and the output scale are those of the first data, so compare with a posterior that has them too.
    grown = part.extended(X[20:], y[20:])
    Z = np.random.default_rng(5).standard_normal((6, 3))
    K = np.array([[covariance(part, a, b) for b in X] for a in X]) + part.noise * np.eye(len(X))
    k = np.array([[covariance(part, a, z) for z in Z] for a in X])
    np.testing.assert_allclose(grown.mean(Z), part.constant + k.T @ np.linalg.solve(K, y - part.constant), rtol=1e-7)
    assert whole.mean(Z) == pytest.approx(grown.mean(Z), abs=0.5)
    np.testing.assert_allclose(part.believing(Z).mean(X), part.mean(X), atol=1e-6)
    assert part.extended(X[:0], y[:0]) is part
