"""Data whose noise is known one by one: against scikit-learn, dense matrices, and data that were averaged before."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from aegisbo.gp import additive_fit, paths
from aegisbo.gp.additive_model import AdditiveLikelihood
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition
from aegisbo.strategies.presets import modern_model

RNG = default_rng(7)
X = RNG.random((18, 3))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=18)
EXTRA = RNG.uniform(0.0, 0.5, 18)
Z = default_rng(1).uniform(-0.2, 1.3, (6, 3))
KERNEL = Matern52(np.array([0.4, 0.9, 2.0]), 1.7)


def test_the_posterior_is_scikit_learns_with_a_noise_for_each_datum() -> None:
    gp = condition(KERNEL, 1e-3, X, Y, extra=EXTRA)
    kernel = ConstantKernel(1.7) * Matern(KERNEL.lengthscale, nu=2.5)
    witness = GaussianProcessRegressor(kernel, alpha=1e-3 + EXTRA, optimizer=None).fit(X, Y)
    mean, std = witness.predict(Z, return_std=True)
    assert_allclose(gp.predict(Z)[0], mean, rtol=1e-8)
    assert_allclose(np.sqrt(gp.predict(Z)[1]), std, rtol=1e-7)


def test_further_data_have_the_noise_of_all() -> None:
    more = condition(KERNEL, 1e-3, X, Y, extra=EXTRA).extended(Z, np.ones(6))
    whole = condition(KERNEL, 1e-3, np.vstack([X, Z]), np.append(Y, np.ones(6)), extra=np.append(EXTRA, np.zeros(6)))
    assert_allclose(more.mean(X + 0.05), whole.mean(X + 0.05), rtol=1e-9)
    assert more.extra is not None
    assert_allclose(more.extra, whole.extra)


def test_several_measurements_of_a_point_count_as_their_weighted_mean() -> None:
    """Three values with their own spread at one place, beside one value with the spread of the mean."""
    values, variances = np.array([0.2, 0.9, -0.4]), np.array([0.1, 0.4, 0.2])
    several = condition(KERNEL, 0.0, np.vstack([X, Z[[0, 0, 0]]]), np.append(Y, values),
                        extra=np.append(EXTRA + 0.01, variances))  # fmt: skip
    weights = (1.0 / variances) / (1.0 / variances).sum()
    once = condition(KERNEL, 0.0, np.vstack([X, Z[:1]]), np.append(Y, weights @ values),
                     extra=np.append(EXTRA + 0.01, 1.0 / (1.0 / variances).sum()))  # fmt: skip
    for one, other in zip(several.predict(Z), once.predict(Z), strict=True):
        assert_allclose(one, other, rtol=1e-7)


def test_paths_vary_as_the_posterior_does() -> None:
    gp = condition(KERNEL, 1e-4, X, Y, extra=20.0 * EXTRA)
    drawn = paths.draw(gp, default_rng(3), count=800)(X)  # (800, 18)
    mean, variance = gp.predict(X)
    assert_allclose(drawn.mean(axis=0), mean, atol=0.15)
    assert_allclose(drawn.var(axis=0), variance, rtol=0.25)


def test_the_likelihood_is_that_of_the_dense_matrices() -> None:
    model, share = modern_model(3), 0.3 * EXTRA
    likelihood = AdditiveLikelihood(X, Y, model, share)
    phi = model.bounds(3).mean(axis=1) + 0.1
    found = likelihood.hyperparameters(phi)
    gp = found.given(X, Y, found.s * share)
    K = gp._prior_covariance(X, X) + np.diag(gp.noise + found.s * share)
    dense = multivariate_normal(np.full(len(Y), found.constant), K).logpdf(Y) + 0.5 * len(Y) * np.log(2.0 * np.pi)
    dense -= 0.5 * model.constant_precision * found.constant**2 / found.s  # the prior of the constant
    assert_allclose(likelihood.value(phi) - model.log_prior(phi)[0], dense, rtol=1e-8)
    gradient = likelihood.value_and_gradient(phi)[1]
    assert_allclose(gradient, approx_fprime(phi, likelihood.value, 1e-6), atol=1e-3)


def test_a_fit_finds_the_scale_of_which_the_known_noise_is_a_share() -> None:
    model = modern_model(3)
    found = additive_fit.fit(X, Y, model, default_rng(0), extra=EXTRA, s=50.0).hyperparameters
    next_one = AdditiveLikelihood(X, Y, model, EXTRA / found.s).hyperparameters(np.array(found.phi))
    assert_allclose(next_one.s, found.s, rtol=0.2)


@pytest.mark.long
def test_noise_that_is_known_is_not_learned_again() -> None:
    """A smooth function with much noise: who is told of the noise need not take it for a property of all data."""
    rng = default_rng(5)
    points, sd = rng.random((60, 2)), 0.5
    values = np.sin(3.0 * points[:, 0]) + points[:, 1] + sd * rng.normal(size=60)
    model = modern_model(2)
    told = additive_fit.fit(points, values, model, rng, extra=np.full(60, sd**2)).gp
    untold = additive_fit.fit(points, values, model, rng).gp
    assert told.noise < 0.1 * sd**2
    assert 0.5 * sd**2 < untold.noise < 2.0 * sd**2
    fresh = rng.random((200, 2))
    truth = np.sin(3.0 * fresh[:, 0]) + fresh[:, 1]
    assert np.abs(told.mean(fresh) - truth).mean() < 0.2
