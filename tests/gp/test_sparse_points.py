"""Points with few coordinates that are not 0, against the formulas that look at all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from aegisbo.gp import additive_model, paths
from aegisbo.gp.additive_model import AdditiveLikelihood
from aegisbo.gp.kernels import Matern52, matern52
from aegisbo.gp.main_effects import MainEffects, by_coordinate, spectrum, waves, waves_and_slopes
from aegisbo.gp.posterior import condition
from aegisbo.gp.sparse_points import AllWaves, FewWaves, sparse, waves_and_slopes_at, waves_at
from aegisbo.space.cube import Continuous, Cube, OneHot
from aegisbo.strategies.presets import preset_named

CUBE = Cube((Continuous(), OneHot(90), Continuous()))
RNG = np.random.default_rng(0)
X, Z = (CUBE.fill(RNG.random((m, 3))) for m in (12, 40))
LENGTHSCALE = RNG.uniform(0.3, 1.5, CUBE.width)
EFFECTS = MainEffects(0.3 * spectrum(LENGTHSCALE)[0].ravel())
GP = condition(Matern52(LENGTHSCALE, 1.3), 1e-3, X, RNG.normal(size=12), constant=0.2, effects=EFFECTS)


def covariances(A, B):
    squares = cdist(A / LENGTHSCALE, B / LENGTHSCALE, "sqeuclidean")
    return 1.3 * matern52(squares) + EFFECTS.covariances(A, B)


def test_sparse_are_wide_points_of_which_nearly_all_is_0():
    np.testing.assert_array_equal(sparse(Z).toarray(), Z)
    assert sparse(Z.astype(np.float32)).dtype == np.float32
    assert sparse(np.zeros((5, 20))) is None
    assert sparse(np.where(np.arange(92) < 9, 0.5, Z)) is None
    assert isinstance(waves_at(Z), FewWaves)
    assert isinstance(waves_and_slopes_at(1.0 - Z), AllWaves)


def test_sums_of_waves():
    weights = RNG.normal(size=(3, 28 * CUBE.width))
    np.testing.assert_allclose(waves_at(Z).weighted(weights), weights @ waves(Z), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(waves_at(Z).weighted(weights[0]), weights[0] @ waves(Z), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(waves_at(Z).squared(weights[0]), weights[0] @ waves(Z) ** 2, rtol=1e-10, atol=1e-10)
    slopes = by_coordinate(weights[1][:, None] * waves_and_slopes(Z)[1], CUBE.width)
    np.testing.assert_allclose(waves_and_slopes_at(Z).slopes(weights[1]), slopes, rtol=1e-10, atol=1e-9)


def test_the_posterior():
    K = covariances(X, X) + 1e-3 * np.eye(12)
    mean = 0.2 + covariances(Z, X) @ np.linalg.solve(K, GP.y)
    var = np.diag(covariances(Z, Z) - covariances(Z, X) @ np.linalg.solve(K, covariances(X, Z)))
    np.testing.assert_allclose(GP.predict(Z), (mean, var), atol=1e-9)
    np.testing.assert_allclose(GP.mean(Z), mean, atol=1e-9)
    np.testing.assert_allclose(GP.mean_and_gradient(Z)[0], mean, atol=1e-9)
    np.testing.assert_allclose(GP.mean(Z.astype(np.float32)), mean, atol=2e-5)
    step = 1e-5 * np.eye(CUBE.width)
    differences = [(GP.mean(Z[0] + step) - GP.mean(Z[0] - step)) / 2e-5]
    np.testing.assert_allclose(GP.mean_and_gradient(Z[:1])[1], differences, atol=1e-6)


def test_a_path():
    path = paths.draw(GP, np.random.default_rng(1), features=200)
    prior = np.cos(Z @ path.frequencies.T + path.phases[0]) @ path.amplitudes[0]
    joint = 1.3 * matern52(cdist(X / LENGTHSCALE, Z / LENGTHSCALE, "sqeuclidean"))
    values = 0.2 + prior + path.update[0] @ joint + path.effects[0] @ waves(Z)
    np.testing.assert_allclose(path(Z)[0], values, atol=1e-9)
    np.testing.assert_allclose(path(Z.astype(np.float32))[0], values, atol=1e-4)
    found, gradients = path.value_and_gradient(Z)
    np.testing.assert_allclose(found[0], values, atol=1e-9)
    step = 1e-5 * np.eye(CUBE.width)
    np.testing.assert_allclose(gradients[0, 0], (path(Z[0] + step) - path(Z[0] - step))[0] / 2e-5, atol=1e-5)


@pytest.mark.parametrize("values", [5, 90])
def test_the_likelihood_needs_only_what_differs_among_the_data(values, monkeypatch):
    model = preset_named("modern").surrogate.model(CUBE.width)
    low, high = model.bounds(CUBE.width).T
    phi = low + (high - low) * RNG.uniform(0.4, 0.6, len(low))
    tried = CUBE.fill(RNG.random((12, 3)) * [1.0, values / 90, 1.0])
    some = AdditiveLikelihood(tried, GP.y, model)
    monkeypatch.setattr(additive_model, "WIDE", 1000)
    everything = AdditiveLikelihood(tried, GP.y, model)
    value, gradient = everything.value_and_gradient(phi)
    assert some.value(phi) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(some.value_and_gradient(phi)[1], gradient, rtol=1e-7, atol=1e-9)
    assert len(some._waves) < len(everything._waves)
