"""The log likelihood against SciPy's normal density of scikit-learn's kernel matrix; its gradient by differences."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import Matern

from aegisbo.gp.likelihood import FixedNoise, LearnedNoise, Likelihood, Model

FIXED, LEARNED = FixedNoise(0.03), LearnedNoise((1e-6, 10.0))
LENGTHSCALE, OUTPUTSCALE = (1e-3, 20.0), (1e-4, 50.0)


def bell_prior(phi):
    """A normal log density with another centre and width in each coordinate."""
    centre, width = 0.3 * np.arange(len(phi)), 1.0 + np.arange(len(phi))
    return float(-0.5 * (((phi - centre) / width) ** 2).sum()), -(phi - centre) / width**2


MODELS = {
    f"{'ARD' if ard else 'isotropic'}, {type(noise).__name__}, {'prior' if prior else 'no prior'}": Model(
        LENGTHSCALE, OUTPUTSCALE, noise, ard=ard, log_prior=prior
    )
    for ard, noise, prior in product([False, True], [FIXED, LEARNED], [None, bell_prior])
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
each_size = pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (20, 3)])


def data(n, d):
    X = np.random.default_rng([n, d]).random((n, d)) * np.linspace(0.6, 1.4, d)
    return X, 1.2 * np.sin(5.0 * X @ np.arange(1.0, d + 1.0)) + 0.3


def some_phi(model, d):
    """A point well inside the bounds, no two of its length scales alike."""
    lengthscales = np.linspace(0.2, 0.9, d) if model.ard else np.array([0.4])
    return np.log(np.append(lengthscales, 0.05 if isinstance(model.noise, LearnedNoise) else 1.7))


def log_density(X, y, lengthscale, outputscale, noise):
    K = outputscale * Matern(lengthscale, nu=2.5)(X) + noise * np.eye(len(y))
    return float(multivariate_normal(np.zeros(len(y)), K).logpdf(y))


def log_prior(model, phi):
    return 0.0 if model.log_prior is None else model.log_prior(phi)[0]


@each_size
@each_model
def test_value_is_the_log_density_of_a_normal_vector(model, n, d):
    X, y = data(n, d)
    phi = some_phi(model, d)
    likelihood = Likelihood(X, y, model)
    theta = likelihood.theta(phi)
    np.testing.assert_allclose(theta.lengthscale, np.exp(phi[:-1]), rtol=1e-14)
    if isinstance(model.noise, FixedNoise):
        assert theta.outputscale == pytest.approx(np.exp(phi[-1]), rel=1e-14)
        assert theta.noise == model.noise.variance
    else:
        assert theta.noise == pytest.approx(np.exp(phi[-1]) * theta.outputscale, rel=1e-14)
    expected = log_density(X, y, theta.lengthscale, theta.outputscale, theta.noise) + log_prior(model, phi)
    assert likelihood.value(phi) == pytest.approx(expected, rel=1e-10)
    assert likelihood.value_and_gradient(phi)[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("outputscale", [OUTPUTSCALE, (1e-4, 0.01)], ids=["scale inside", "scale at its bound"])
@each_size
@each_model
def test_gradient_is_the_central_difference(model, n, d, outputscale):
    likelihood = Likelihood(*data(n, d), replace(model, outputscale=outputscale))
    phi, h = some_phi(model, d), 1e-5
    _, gradient = likelihood.value_and_gradient(phi)
    differences = [
        (likelihood.value(phi + step) - likelihood.value(phi - step)) / (2.0 * h) for step in h * np.eye(len(phi))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ard", [False, True])
def test_output_scale_filled_in_is_the_best_there_is(ard):
    X, y = data(20, 3)
    model = Model(LENGTHSCALE, OUTPUTSCALE, LEARNED, ard=ard)
    phi = some_phi(model, 3)
    share, lengthscale = np.exp(phi[-1]), np.exp(phi[:-1])
    best = minimize_scalar(
        lambda log_s: -log_density(X, y, lengthscale, np.exp(log_s), share * np.exp(log_s)),
        bounds=np.log(OUTPUTSCALE),
        options={"xatol": 1e-10},
    )
    assert Likelihood(X, y, model).theta(phi).outputscale == pytest.approx(np.exp(best.x), rel=1e-6)
    assert Likelihood(X, y, model).value(phi) == pytest.approx(-best.fun, rel=1e-12)


@pytest.mark.parametrize(("bounds", "end"), [((1e-4, 0.1), 0.1), ((30.0, 50.0), 30.0)])
def test_output_scale_filled_in_stays_within_its_bounds(bounds, end):
    X, y = data(20, 3)
    model = Model(LENGTHSCALE, bounds, LEARNED)
    phi = some_phi(model, 3)
    likelihood, share = Likelihood(X, y, model), float(np.exp(phi[-1]))
    theta = likelihood.theta(phi)
    assert theta.outputscale == end
    assert likelihood.value(phi) == pytest.approx(log_density(X, y, theta.lengthscale, end, share * end), rel=1e-10)


@pytest.mark.parametrize("prior", [None, bell_prior])
def test_rescaled_leaves_phi_alone_where_the_noise_is_learned(prior):
    model = Model(LENGTHSCALE, OUTPUTSCALE, LEARNED, log_prior=prior)
    likelihood = Likelihood(*data(20, 3), model)
    phi = some_phi(model, 3)
    value, moved = likelihood.rescaled(phi)
    np.testing.assert_array_equal(moved, phi)
    assert value == likelihood.value(phi)


@pytest.mark.parametrize("outputscale", [OUTPUTSCALE, (1e-4, 0.3), (10.0, 50.0)], ids=["inside", "at high", "at low"])
@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("prior", [None, bell_prior])
def test_rescaled_grows_scale_and_fixed_noise_together(outputscale, ard, prior):
    X, y = data(20, 3)
    model = Model(LENGTHSCALE, outputscale, FIXED, ard=ard, log_prior=prior)
    phi = some_phi(model, 3)

    def grown(log_growth):
        growth = np.exp(log_growth)
        return log_density(X, y, np.exp(phi[:-1]), growth * np.exp(phi[-1]), growth * FIXED.variance)

    value, moved = Likelihood(X, y, model).rescaled(phi)
    np.testing.assert_array_equal(moved[:-1], phi[:-1])
    assert value == pytest.approx(grown(moved[-1] - phi[-1]) + log_prior(model, moved), rel=1e-10)
    low, high = np.log(outputscale) - phi[-1]
    best = minimize_scalar(lambda log_growth: -grown(log_growth), bounds=(low, high), options={"xatol": 1e-10})
    assert moved[-1] - phi[-1] == pytest.approx(best.x, abs=1e-6)


def test_bounds_are_those_of_the_model_in_logarithms():
    fixed = Model((0.1, 2.0), (0.01, 30.0), FIXED)
    learned = Model((0.1, 2.0), (0.01, 30.0), LearnedNoise((1e-5, 0.5)), ard=True)
    np.testing.assert_allclose(fixed.bounds(3), np.log([[0.1, 2.0], [0.01, 30.0]]))
    np.testing.assert_allclose(learned.bounds(3), np.log([[0.1, 2.0]] * 3 + [[1e-5, 0.5]]))


def test_what_cannot_be_factored_is_infinitely_unlikely():
    X = np.zeros((3, 2))  # equal points without noise: exactly singular
    fixed = Likelihood(X, np.arange(3.0), Model(LENGTHSCALE, OUTPUTSCALE, FixedNoise(0.0)))
    learned = Likelihood(X, np.arange(3.0), Model(LENGTHSCALE, OUTPUTSCALE, LearnedNoise((1e-20, 1.0))))
    for likelihood, phi in ((fixed, np.log([0.3, 1.0])), (learned, np.log([0.3, 1e-18]))):
        assert likelihood.value(phi) == -np.inf
        value, gradient = likelihood.value_and_gradient(phi)
        assert value == -np.inf
        np.testing.assert_array_equal(gradient, 0.0)
        value, moved = likelihood.rescaled(phi)
        assert value == -np.inf
        np.testing.assert_array_equal(moved, phi)
        assert np.isfinite(likelihood.theta(phi).outputscale)


def test_evaluations_are_counted():
    model = Model(LENGTHSCALE, OUTPUTSCALE, LEARNED)
    likelihood = Likelihood(*data(5, 2), model)
    phi = some_phi(model, 2)
    for count, ask in enumerate((likelihood.value, likelihood.value_and_gradient, likelihood.rescaled), start=1):
        ask(phi)
        assert likelihood.evaluations == count


@each_model
def test_asking_twice_gives_the_same_answer_and_alters_nothing(model):
    X, y = data(20, 3)
    given = X.copy(), y.copy()
    likelihood, phi = Likelihood(X, y, model), some_phi(model, 3)
    first, second = likelihood.value_and_gradient(phi), likelihood.value_and_gradient(phi)
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])
    np.testing.assert_array_equal(X, given[0])
    np.testing.assert_array_equal(y, given[1])
