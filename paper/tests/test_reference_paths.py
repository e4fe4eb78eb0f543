"""The published code's sample paths: their prior, their mean, how their spread collapses, and their noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from aegis_paper.reference import paths

from aegisbo.arrays import Array
from aegisbo.gp import isotropic_fit
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.output_transform import scale_of
from aegisbo.gp.posterior import GP, condition
from aegisbo.simulation.problems import get
from aegisbo.strategies.presets import paper_model


def standardized(y: Array) -> Array:
    return scale_of(y).standardized(y)


def smooth_gp(seed: int = 0, n: int = 12, noise: float = 1e-4) -> GP:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return condition(Matern52(np.array([0.4]), 7.0), noise, X, standardized(np.sin(5 * X).sum(axis=1)))


def fitted(problem: str, n: int) -> GP:
    """What the surrogate believes after n random points of a problem."""
    p, rng = get(problem), np.random.default_rng(1)
    U = rng.random((n, p.d))
    low, high = np.array(p.bounds).T
    y = standardized(np.array([p(x) for x in low + U * (high - low)]))
    return isotropic_fit.fit(U, y, paper_model(p.d), rng).gp


def values_of_paths(gp: GP, Z: Array, count: int, features: int = 2000) -> Array:  # (count, m)
    rng = np.random.default_rng(2)
    return np.array([paths.draw(gp, features, rng).path(Z)[0] for _ in range(count)])


def test_the_prior_part_is_a_product_of_rational_quadratics_without_output_scale() -> None:
    features, gp = 400_000, smooth_gp()
    path = paths.draw(gp, features, np.random.default_rng(3)).path
    z = np.full(3, 0.5)
    for r in ([0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, -0.4, 0.0], [0.3, 0.2, -0.5], [0.8, 0.8, 0.8]):
        waves = np.cos(np.stack([z, z + r]) @ path.frequencies.T + path.phases[0])  # (2, features)
        estimate = (path.amplitudes[0] ** 2 * waves[0] * waves[1]).sum()
        exact = np.prod((1 + np.square(r) / (5 * 0.4**2)) ** -2.5)
        assert estimate == pytest.approx(exact, abs=5 * 1.5 / np.sqrt(features))  # five standard errors


def test_the_mean_is_that_of_the_posterior() -> None:
    gp, Z = smooth_gp(), np.random.default_rng(4).random((20, 3))
    values = values_of_paths(gp, Z, 400, features=200)
    error = (values.mean(axis=0) - gp.mean(Z)) / (values.std(axis=0) / np.sqrt(400))
    assert np.abs(error).max() < 4.5
    assert 0.7 < error.std() < 1.4, "not the Monte-Carlo rate"


@pytest.mark.long
@pytest.mark.parametrize(
    ("problem", "least", "most"), [("Branin", 0.004, 0.04), ("StyblinskiTang5", 0.7, 1.15), ("Rosenbrock7", 0.05, 0.3)]
)
def test_the_spread_collapses_where_the_function_is_smooth(problem: str, least: float, most: float) -> None:
    gp = fitted(problem, 100)
    Z = np.random.default_rng(5).random((60, gp.X.shape[1]))
    ratio = values_of_paths(gp, Z, 40).std(axis=0, ddof=1) / np.sqrt(gp.predict(Z)[1])
    assert least < np.median(ratio) < most


def test_the_noise_is_new_at_every_call_and_as_large_as_in_the_code() -> None:
    gp = smooth_gp(noise=0.03)
    noisy = paths.draw(gp, 50, np.random.default_rng(6))
    z = np.full((1, 3), 0.45)
    values = np.array([noisy.value_and_gradient(z)[0][0] for _ in range(2000)])
    assert len(set(values)) == 2000
    K = gp.kernel(gp.X, gp.X) + 0.03 * np.eye(12)
    expected = 0.03 * np.linalg.norm(np.linalg.solve(K, gp.kernel(gp.X, z)[:, 0]))
    assert values.std() == pytest.approx(expected, rel=0.08)
    assert values.mean() == pytest.approx(noisy.path(z)[0, 0], abs=5 * expected / np.sqrt(2000))
    rough = np.array([noisy.screen(z)[0] for _ in range(500)])
    assert rough.std() == pytest.approx(expected, rel=0.16)


def test_equal_generators_give_equal_paths_and_noise() -> None:
    Z = np.random.default_rng(7).random((5, 3))
    first, second = (paths.draw(smooth_gp(), 50, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first.value_and_gradient(Z)[0], second.value_and_gradient(Z)[0])
    np.testing.assert_array_equal(first.screen(Z), second.screen(Z))


def test_gradients_agree_with_differences_under_the_same_noise() -> None:
    gp = smooth_gp(noise=0.03)
    noisy = paths.draw(gp, 50, np.random.default_rng(9))

    def call(z: Array) -> tuple[Array, Array]:
        return replace(noisy, rng=np.random.default_rng(10)).value_and_gradient(z[None, :])

    z, h = np.array([0.3, 0.6, 0.45]), 1e-5
    differences = [(call(z + h * e)[0][0] - call(z - h * e)[0][0]) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(call(z)[1][0], differences, rtol=1e-6, atol=1e-8)
