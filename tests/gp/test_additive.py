"""The additive GP against dense linear algebra, central differences, SciPy's densities and its own samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from aegisbo.gp import additive_fit, paths
from aegisbo.gp.additive_model import AdditiveLikelihood, HierarchicalPrior
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.main_effects import MainEffects, spectrum
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.gp.posterior import condition
from aegisbo.simulation import problems
from aegisbo.strategies.presets import modern_model

H = 1e-5


def data(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    X = rng.random((n, d))
    y = np.sin(6.0 * X).sum(axis=1) + X[:, 0] * X[:, -1] + 0.01 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def some_phi(d, seed=0):
    rng = np.random.default_rng([d, seed])
    return np.concatenate([rng.normal(0.0, 0.4, d), rng.normal(-1.0, 0.4, d), rng.normal(0.0, 1.0, 1), [-6.0]])


def some_gp(n=25, d=3, constant=1.5):
    X, y = data(n, d)
    effects = MainEffects(0.2 * spectrum(np.linspace(0.2, 0.8, d))[0].ravel())
    return condition(Matern52(np.linspace(0.3, 0.9, d), 0.7), 1e-3, X, y, constant=constant, effects=effects)


def dense(gp, A, B):
    """Prior covariances (a, b) of everything but noise, summand by summand."""
    r = np.sqrt((((A[:, None] - B[None]) / gp.kernel.lengthscale) ** 2).sum(axis=2))
    c = np.sqrt(5.0) * r
    joint = gp.kernel.outputscale * (1.0 + c + c**2 / 3.0) * np.exp(-c)
    return joint + gp.effects.covariances(A, B)


def test_posterior_is_that_of_the_dense_matrices():
    gp = some_gp()
    Z = np.random.default_rng(5).random((6, 3))
    K = dense(gp, gp.X, gp.X) + gp.noise * np.eye(len(gp.X))
    k = dense(gp, gp.X, Z)
    mean = 1.5 + k.T @ np.linalg.solve(K, gp.y)
    covariance = dense(gp, Z, Z) - k.T @ np.linalg.solve(K, k)
    mu, var = gp.predict(Z)
    np.testing.assert_allclose(mu, mean, atol=1e-9)
    np.testing.assert_allclose(gp.mean(Z), mean, atol=1e-9)
    np.testing.assert_allclose(gp.mean(Z.astype(np.float32)), mean, atol=1e-3)
    np.testing.assert_allclose(var, np.diagonal(covariance), atol=1e-9)
    np.testing.assert_allclose(gp.covariance(Z, Z), covariance, atol=1e-9)


def test_gradients_are_central_differences():
    gp = some_gp()
    Z = np.random.default_rng(6).random((5, 3))
    mu, var, grad_mu, grad_var = gp.predict_and_gradient(Z)
    np.testing.assert_allclose((mu, var), gp.predict(Z), atol=1e-10)
    again, gradient = gp.mean_and_gradient(Z)
    np.testing.assert_allclose(again, mu, atol=1e-10)
    np.testing.assert_allclose(gradient, grad_mu, atol=1e-9)
    for i, step in enumerate(H * np.eye(3)):
        up, down = gp.predict(Z + step), gp.predict(Z - step)
        np.testing.assert_allclose(grad_mu[:, i], (up[0] - down[0]) / (2 * H), atol=1e-5)
        np.testing.assert_allclose(grad_var[:, i], (up[1] - down[1]) / (2 * H), atol=1e-5)
        steeper = (gp.steepness(Z + step)[0] - gp.steepness(Z - step)[0]) / (2 * H)
        np.testing.assert_allclose(gp.steepness(Z)[1][:, i], steeper, atol=1e-4)
    np.testing.assert_allclose(gp.steepness(Z)[0], np.linalg.norm(gradient, axis=1), atol=1e-9)


def test_extension_is_the_posterior_of_all_data():
    gp = some_gp()
    X, y = data(4, 3, seed=9)
    whole = condition(
        gp.kernel, gp.noise, np.vstack([gp.X, X]), np.append(gp.y + 1.5, y), constant=1.5, effects=gp.effects
    )
    Z = np.random.default_rng(7).random((6, 3))
    np.testing.assert_allclose(gp.extended(X, y).predict(Z), whole.predict(Z), atol=1e-8)
    believed = gp.believing(X)
    np.testing.assert_allclose(believed.mean(Z), gp.mean(Z), atol=1e-8)
    assert (believed.predict(Z)[1] <= gp.predict(Z)[1] + 1e-12).all()


@pytest.mark.long
def test_paths_have_the_moments_of_the_posterior():
    gp = some_gp()
    Z = np.vstack([gp.X[0], np.random.default_rng(8).random((4, 3))])
    draws = np.vstack([paths.draw(gp, rng, 50)(Z) for rng in np.random.default_rng(1).spawn(60)])  # (3000, m)
    C = gp.covariance(Z, Z)
    allowed = norm.isf(0.5e-3 / 20)
    off = np.abs(draws.mean(axis=0) - gp.mean(Z))
    assert (off <= allowed * np.sqrt(np.diagonal(C) / len(draws))).all()
    variance = np.diagonal(C)
    rate = np.sqrt((np.outer(variance, variance) + C**2) / len(draws))
    # The frequencies of a draw are shared by its 50 paths; their part of the error is that of 1000 of them.
    by_frequencies = 2.0 * np.sqrt(np.outer(variance, variance) / (60 * 1000))
    assert (np.abs(np.cov(draws.T) - C) <= allowed * (rate + by_frequencies)).all()


def test_a_path_is_a_fixed_function_with_gradients():
    gp = some_gp()
    path = paths.draw(gp, np.random.default_rng(2), count=2)
    Z = np.random.default_rng(3).random((5, 3))
    value, gradient = path.value_and_gradient(Z)
    np.testing.assert_allclose(value, path(Z), atol=1e-9)
    np.testing.assert_allclose(path(Z.astype(np.float32)), path(Z), atol=3e-3)
    for i, step in enumerate(H * np.eye(3)):
        np.testing.assert_allclose(gradient[:, :, i], (path(Z + step) - path(Z - step)) / (2 * H), atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(12, 1), (30, 3)])
def test_gradient_of_the_likelihood_is_a_central_difference(n, d):
    likelihood = AdditiveLikelihood(*data(n, d), modern_model(d))
    phi = some_phi(d)
    value, gradient = likelihood.value_and_gradient(phi)
    assert value == pytest.approx(likelihood.value(phi), abs=1e-9)
    moved = [(likelihood.value(phi + e) - likelihood.value(phi - e)) / (2 * H) for e in H * np.eye(len(phi))]
    np.testing.assert_allclose(gradient, moved, rtol=1e-5, atol=1e-4)


def test_constant_and_output_scale_are_the_best_ones():
    """Held against SciPy's density of the data, with the constant's prior: no other pair is more likely."""
    X, y = data(20, 2)
    model = modern_model(2)
    likelihood, phi = AdditiveLikelihood(X, y, model), some_phi(2)
    gp = likelihood.hyperparameters(phi).given(X, y)
    s = gp.noise / np.exp(phi[-1])
    C = (dense(gp, X, X) + gp.noise * np.eye(20)) / s

    def log_density(constant, s):
        of_constant = -0.5 * model.constant_precision * constant**2 / s
        return multivariate_normal(np.full(20, constant), s * C).logpdf(y) + of_constant

    best = log_density(gp.constant, s)
    for constant, scale in [(0.02, 1.0), (-0.02, 1.0), (0.0, 1.02), (0.0, 0.98), (0.3, 2.0)]:
        assert log_density(gp.constant + constant, s * scale) < best
    other = some_phi(2, seed=1)
    gp2 = likelihood.hyperparameters(other).given(X, y)
    s2 = gp2.noise / np.exp(other[-1])
    C = (dense(gp2, X, X) + gp2.noise * np.eye(20)) / s2
    difference = log_density(gp2.constant, s2) - best
    priors = model.log_prior(other)[0] - model.log_prior(phi)[0]
    assert likelihood.value(other) - likelihood.value(phi) == pytest.approx(difference + priors, abs=1e-6)


def test_log_normal_prior_of_numbers_that_stay_together():
    law = HierarchicalPrior(center=1.0, spread=2.0, apart=0.5)
    logs = np.array([0.4, 2.0, -1.0])
    value, gradient = law.log_density(logs)
    mean = logs.mean()
    expected = norm(1.0, 2.0).logpdf(mean) + norm(0.0, 0.5).logpdf(logs - mean).sum()
    constant = norm(1.0, 2.0).logpdf(1.0) + 3 * norm(0.0, 0.5).logpdf(0.0)
    assert value == pytest.approx(expected - constant)
    moved = [(law.log_density(logs + e)[0] - law.log_density(logs - e)[0]) / (2 * H) for e in H * np.eye(3)]
    np.testing.assert_allclose(gradient, moved, atol=1e-8)


@pytest.mark.long
def test_a_sum_of_functions_is_recognized_and_learned_with_few_data():
    rng = np.random.default_rng(4)
    X, Z = rng.random((60, 6)), rng.random((200, 6))

    def total(X):
        return np.sin(9.0 * X + np.arange(6)).sum(axis=1)

    y = total(X)
    found = additive_fit.fit(X, (y - y.mean()) / y.std(), modern_model(6), rng)
    share = 1.0 / (1.0 + np.exp(-found.hyperparameters.phi[-2]))
    assert share > 0.5  # the effects explain more than the joint kernel
    left = found.gp.mean(Z) * y.std() + y.mean() - total(Z)
    assert (
        left.std() < 0.1 * total(Z).std()
    )  # a joint kernel alone leaves more than half: sixty points in six dimensions


@pytest.mark.long
def test_noise_is_told_from_a_rough_function():
    """A climb from a start without noise ends at a function that goes through every value, in one of these six."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 2))
        smooth = ((X - 0.4) ** 2).sum(axis=1)
        y = (smooth - smooth.mean()) / smooth.std() + 0.3 * rng.normal(size=60)
        found = additive_fit.fit(X, y, modern_model(2), np.random.default_rng(seed))
        assert 0.5 * 0.3**2 < found.gp.noise < 2.0 * 0.3**2


def test_a_warm_start_is_never_worse_than_where_it_began():
    X, y = data(40, 3)
    model = modern_model(3)
    cold = additive_fit.fit(X[:-1], y[:-1], model, np.random.default_rng(0))
    warm = additive_fit.fit(X, y, model, np.random.default_rng(1), np.array(cold.hyperparameters.phi))
    before, after = (AdditiveLikelihood(X, y, model).value(np.array(fit.hyperparameters.phi)) for fit in (cold, warm))
    assert after >= before


@pytest.mark.parametrize("good", ["warm", "rival"])
def test_with_a_rival_a_fit_climbs_once_from_the_better_start(good):
    """The other start, and whatever chance would have drawn, do not matter."""
    X, y = data(40, 3)
    model = modern_model(3)
    likelihood = AdditiveLikelihood(X, y, model)
    near = np.array(additive_fit.fit(X[:-1], y[:-1], model, np.random.default_rng(0)).hyperparameters.phi)
    poor = np.append(np.full(6, np.log(0.1)), [0.0, np.log(0.5)])
    assert likelihood.value(near) > likelihood.value(poor) + 1.0
    warm, rival = (near, poor) if good == "warm" else (poor, near)
    first, second = (
        additive_fit.fit(X, y, model, np.random.default_rng(seed), warm, rival=rival).hyperparameters for seed in (1, 2)
    )
    assert first == second == additive_fit.fit(X, y, model, np.random.default_rng(3), near, rival=near).hyperparameters
    assert likelihood.value(np.array(first.phi)) >= likelihood.value(near)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_what_has_no_noise_is_not_taken_for_noise_when_many_data_are_known_at_once(seed):
    """Ripples, and half of the data around the lowest point: given all of them, some climbs end where all is noise."""
    rng = np.random.default_rng(200)
    low = problems.get("Michalewicz5").minimizers[0] / np.pi
    X = rng.random((200, 5))
    near = low + rng.normal(size=(100, 5)) * 0.3 * 10 ** (-3 * rng.random((100, 1)))
    X[100:] = np.clip(near, 0.0, 1.0)
    measured = np.array([problems.get("Michalewicz5")(x) for x in np.pi * X])
    y = soft_scale_of(measured, 0.5).standardized(measured)
    found = additive_fit.fit(X, y, modern_model(5), np.random.default_rng(seed))
    assert found.gp.noise < 1e-5


@pytest.mark.long
def test_where_many_data_are_known_at_once_a_rival_saves_the_starts():
    X, y = data(additive_fit.FIRST_LOOK + 1, 2)
    model = modern_model(2)
    rival = some_phi(2)
    first, second = (additive_fit.fit(X, y, model, np.random.default_rng(seed), rival=rival) for seed in (1, 2))
    assert first.hyperparameters == second.hyperparameters  # no chance in it
    likelihood = AdditiveLikelihood(X, y, model)
    assert likelihood.value(np.array(first.hyperparameters.phi)) > likelihood.value(rival)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.full((1, 2), 0.3), np.zeros(1)),
        (np.full((5, 2), 0.5), np.arange(5.0)),
        (np.random.default_rng(0).random((6, 2)), np.zeros(6)),
        (np.random.default_rng(0).random((8, 2)), np.array([0.0] * 7 + [1e6])),
    ],
    ids=["one point", "one place", "equal values", "an outlier"],
)
def test_odd_data_give_a_usable_posterior(X, y):
    found = additive_fit.fit(X, y, modern_model(2), np.random.default_rng(0))
    mu, var = found.gp.predict(np.random.default_rng(1).random((20, 2)))
    assert np.isfinite(mu).all()
    assert np.isfinite(var).all()
    assert (var >= 0.0).all()
