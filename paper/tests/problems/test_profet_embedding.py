"""Tasks as points: right gradient, right curvature, and alike tasks near each other."""

from __future__ import annotations

import numpy as np
import pytest
from aegis_paper.problems.profet_embedding import Embedding, _LatentModel, embed_tasks
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal, spearmanr

from aegisbo.arrays import Array

T, N, Q = 6, 9, 2


@pytest.fixture
def Y() -> Array:
    return np.random.default_rng(3).normal(size=(T, N))


@pytest.fixture
def theta() -> Array:
    return np.random.default_rng(5).normal(size=T * Q + Q + 2) * 0.5


def test_the_loss_is_the_joint_density(Y: Array, theta: Array) -> None:
    """Against SciPy's Gaussian, one output at a time; constants that depend on nothing are left out."""
    model = _LatentModel(Y @ Y.T, N, Q)
    Z, lengthscales, signal, noise = model.unpack(theta)
    K = np.empty((T, T))
    for i in range(T):
        for j in range(T):
            r = np.sqrt(5) * np.linalg.norm((Z[i] - Z[j]) / lengthscales)
            K[i, j] = signal * (1 + r + r**2 / 3) * np.exp(-r) + (noise + 1e-8) * (i == j)
    log_density = multivariate_normal(np.zeros(T), K).logpdf(Y.T).sum() - (Z**2).sum() / 2
    constant = -T * N / 2 * np.log(2 * np.pi)
    assert -model.loss(theta)[0] == pytest.approx(log_density - constant, rel=1e-10)


def test_the_gradient_agrees_with_differences(Y: Array, theta: Array) -> None:
    model = _LatentModel(Y @ Y.T, N, Q)
    slopes = [(model.loss(theta + h)[0] - model.loss(theta - h)[0]) / 2e-6 for h in 1e-6 * np.eye(len(theta))]
    np.testing.assert_allclose(model.loss(theta)[1], slopes, rtol=1e-6, atol=1e-6)


def test_the_spread_of_a_place_is_the_curvature_of_the_loss(Y: Array, theta: Array) -> None:
    model = _LatentModel(Y @ Y.T, N, Q)
    steps = 1e-4 * np.eye(len(theta))[: T * Q]
    curvature = [(model.loss(theta + h)[0] - 2 * model.loss(theta)[0] + model.loss(theta - h)[0]) / 1e-8 for h in steps]
    expected = 1 / np.sqrt(np.maximum(curvature, 1))
    np.testing.assert_allclose(model.place_sd(theta).ravel(), expected, rtol=1e-4)


@pytest.fixture
def line() -> tuple[Array, Array]:
    """Places (12,) on a line, and the waves (12, 40) that belong to them: less than half a turn apart."""
    rng = np.random.default_rng(0)
    along = np.sort(rng.random(12))
    waves = np.sin(3 * (np.linspace(0, 2, 40) - along[:, None]))
    return along, waves + 0.01 * rng.normal(size=waves.shape)


@pytest.mark.long
def test_tasks_on_a_line_keep_their_distances(line: tuple[Array, Array]) -> None:
    along, waves = line
    places = embed_tasks(waves, Q, np.random.default_rng(1)).mean
    assert spearmanr(pdist(places), pdist(along[:, None])).statistic > 0.9


@pytest.mark.long
def test_level_and_scale_of_a_task_do_not_count(line: tuple[Array, Array]) -> None:
    _, waves = line
    rng = np.random.default_rng(1)
    moved = waves * rng.uniform(0.1, 100, (12, 1)) + rng.normal(size=(12, 1))
    plain, other = (embed_tasks(data, Q, np.random.default_rng(2)) for data in (waves, moved))
    np.testing.assert_allclose(pdist(other.mean), pdist(plain.mean), rtol=0.05)


def test_draws_have_the_mean_and_spread_of_their_task() -> None:
    embedding = Embedding(mean=np.array([[0.0, 0.0], [3.0, -1.0]]), sd=np.array([[1.0, 1.0], [0.5, 0.1]]))
    rng = np.random.default_rng(7)
    draws = np.array([embedding.draw(1, rng) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), [3, -1], atol=0.04)
    np.testing.assert_allclose(draws.std(axis=0), [0.5, 0.1], rtol=0.05)
