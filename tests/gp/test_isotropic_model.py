"""The log likelihood against SciPy's normal density of scikit-learn's kernel matrix; its gradient by differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import Matern

from aegisbo.gp.isotropic_model import IsotropicLikelihood, IsotropicModel

MODEL = IsotropicModel(lengthscale=(1e-3, 20.0), outputscale=(1e-4, 50.0), noise=0.03)
PHI = np.log([0.4, 1.7])
each_size = pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (20, 3)])


def data(n, d):
    X = np.random.default_rng([n, d]).random((n, d)) * np.linspace(0.6, 1.4, d)
    return X, 1.2 * np.sin(5.0 * X @ np.arange(1.0, d + 1.0)) + 0.3


def log_density(X, y, lengthscale, outputscale, noise):
    K = outputscale * Matern(lengthscale, nu=2.5)(X) + noise * np.eye(len(y))
    return float(multivariate_normal(np.zeros(len(y)), K).logpdf(y))


@each_size
def test_value_is_the_log_density_of_a_normal_vector(n, d):
    X, y = data(n, d)
    likelihood = IsotropicLikelihood(X, y, MODEL)
    expected = log_density(X, y, 0.4, 1.7, MODEL.noise)
    assert likelihood.value(PHI) == pytest.approx(expected, rel=1e-10)
    assert likelihood.value_and_gradient(PHI)[0] == pytest.approx(expected, rel=1e-10)


@each_size
def test_gradient_is_the_central_difference(n, d):
    likelihood, h = IsotropicLikelihood(*data(n, d), MODEL), 1e-5
    _, gradient = likelihood.value_and_gradient(PHI)
    differences = [(likelihood.value(PHI + step) - likelihood.value(PHI - step)) / (2.0 * h) for step in h * np.eye(2)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("outputscale", [(1e-4, 50.0), (1e-4, 0.3), (10.0, 50.0)], ids=["inside", "at high", "at low"])
def test_rescaled_grows_scale_and_noise_together(outputscale):
    X, y = data(20, 3)

    def grown(log_growth):
        growth = np.exp(log_growth)
        return log_density(X, y, 0.4, growth * 1.7, growth * MODEL.noise)

    value, moved = IsotropicLikelihood(X, y, replace(MODEL, outputscale=outputscale)).rescaled(PHI)
    assert moved[0] == PHI[0]
    assert value == pytest.approx(grown(moved[1] - PHI[1]), rel=1e-10)
    low, high = np.log(outputscale) - PHI[1]
    best = minimize_scalar(lambda log_growth: -grown(log_growth), bounds=(low, high), options={"xatol": 1e-10})
    assert moved[1] - PHI[1] == pytest.approx(best.x, abs=1e-6)


def test_bounds_are_those_of_the_model_in_logarithms():
    model = IsotropicModel((0.1, 2.0), (0.01, 30.0), 0.03)
    np.testing.assert_allclose(model.bounds, np.log([[0.1, 2.0], [0.01, 30.0]]))


def test_the_posterior_has_the_hyper_parameters_of_phi():
    X, y = data(20, 3)
    gp = MODEL.posterior(X, y, PHI)
    np.testing.assert_allclose(gp.kernel.lengthscale, [0.4], rtol=1e-14)
    assert gp.kernel.outputscale == pytest.approx(1.7, rel=1e-14)
    assert gp.noise == MODEL.noise
    K = 1.7 * Matern(0.4, nu=2.5)(X) + MODEL.noise * np.eye(20)
    np.testing.assert_allclose(gp.alpha, np.linalg.solve(K, y), rtol=1e-9)


def test_what_cannot_be_factored_is_infinitely_unlikely():
    X = np.zeros((3, 2))  # equal points without noise: exactly singular
    likelihood = IsotropicLikelihood(X, np.arange(3.0), replace(MODEL, noise=0.0))
    assert likelihood.value(PHI) == -np.inf
    value, gradient = likelihood.value_and_gradient(PHI)
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, 0.0)
    value, moved = likelihood.rescaled(PHI)
    assert value == -np.inf
    np.testing.assert_array_equal(moved, PHI)


def test_asking_twice_gives_the_same_answer_and_alters_nothing():
    X, y = data(20, 3)
    given = X.copy(), y.copy()
    likelihood = IsotropicLikelihood(X, y, MODEL)
    first, second = likelihood.value_and_gradient(PHI), likelihood.value_and_gradient(PHI)
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])
    np.testing.assert_array_equal(X, given[0])
    np.testing.assert_array_equal(y, given[1])
