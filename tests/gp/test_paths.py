"""Sample paths against the exact posterior, at the rate at which features and samples converge.

Given its frequencies a path is Gaussian, its mean is the posterior mean for any frequencies, and its covariance

    C_f(z, z') = (2/F) Σ_j s Re a_j(z) a_j(z')* + noise k(z)' K⁻² k(z'),    a_j(z) = e_j(z) − k(z)' K⁻¹ e_j(X),
    e_j(x) = exp(i ω_j·x),

is the posterior covariance on average over the F/2 frequencies. So all moments below are unbiased for any number of
features F, draws D and paths a draw S, and an average over D S paths strays by a Gaussian part of order (D S)^-1/2 and
a part from the frequencies of order (D F/2)^-1/2. Both sizes are computed here from the paper's formulas, without the
code under test; how many standard deviations are allowed follows from the number of moments looked at.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy.stats import multivariate_t, norm

from aegisbo.gp import paths
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition

FALSE_ALARM = 1e-3  # chance that correct code fails one test, were the seed not fixed
NOISE = 1e-4  # as in the paper
ISOTROPIC = np.array([0.3])
ARD = np.array([0.2, 0.4, 0.9])
DRAWS, PATHS, FEATURES = 40, 100, 1000


def posterior(n, s, lengthscale=ISOTROPIC, noise=NOISE, d=3):
    rng = np.random.default_rng([n, d])
    X = rng.random((n, d))
    y = np.sqrt(s) * np.sin(X @ np.array([7.0, -4.0, 2.0])[:d])
    return condition(Matern52(lengthscale, s), noise, X, y)


def probes(gp):
    """(7, d): a datum, a point a third of a length scale from it, corners, and points between the data."""
    d = gp.X.shape[1]
    beside = np.clip(gp.X[0] + gp.kernel.lengthscale / 3 / np.sqrt(d), 0.0, 1.0)
    return np.vstack([gp.X[0], beside, np.zeros(d), np.ones(d), np.random.default_rng(8).random((3, d))])


def deviations(gp, Z, seed, features=FEATURES):
    """(D, S, m): how far paths lie from the posterior mean."""
    mu = gp.predict(Z)[0]
    rngs = np.random.default_rng(seed).spawn(DRAWS)
    return np.stack([paths.draw(gp, rng, PATHS, features)(Z) - mu for rng in rngs])


def allowed(count):
    """Standard deviations that none of `count` Gaussian averages exceeds, but for a chance of FALSE_ALARM."""
    return norm.isf(0.5 * FALSE_ALARM / count)


def spread_of_one_frequency(gp, Z):
    """(m, m) standard deviations of s Re a_j(z) a_j(z')* over frequencies drawn by SciPy."""
    rng = np.random.default_rng(99)
    d = Z.shape[1]
    shape = np.diag(np.broadcast_to(gp.kernel.lengthscale, (d,)) ** -2.0)
    frequencies = multivariate_t(shape=shape, df=5, seed=rng).rvs(10_000).reshape(-1, d)
    waves = np.exp(1j * np.vstack([gp.X, Z]) @ frequencies.T)  # (n + m, J)
    n = len(gp.X)
    K = gp.kernel(gp.X, gp.X) + (gp.noise + gp.factor.jitter) * np.eye(n)
    a = waves[n:] - np.linalg.solve(K, gp.kernel(gp.X, Z)).T @ waves[:n]  # (m, J)
    products = (a[:, None, :] * a[None, :, :].conj()).real  # (m, m, J)
    return gp.kernel.outputscale * products.std(axis=2)


def spread_of_one_product(C):
    """(m, m) standard deviations of g(z) g(z') for a Gaussian g with covariance C."""
    variances = np.diagonal(C)
    return np.sqrt(np.outer(variances, variances) + C**2)


QUICK = [(5, 10.0, ARD), (50, 0.01, ARD), (50, 1.0, ISOTROPIC)]
SLOW = [(n, s, ISOTROPIC) for n in (5, 50, 200) for s in (0.01, 1.0, 10.0) if (n, s) != (50, 1.0)] + [(200, 1.0, ARD)]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.long) for case in SLOW)]


@pytest.mark.long
@pytest.mark.parametrize(("n", "s", "lengthscale"), CASES)
def test_moments_are_those_of_the_posterior(n, s, lengthscale):
    gp = posterior(n, s, lengthscale)
    Z = probes(gp)
    C = gp.covariance(Z, Z)
    np.testing.assert_allclose(np.diagonal(C), gp.predict(Z)[1], rtol=1e-6)
    moved = deviations(gp, Z, seed=n).reshape(DRAWS * PATHS, len(Z))

    rate = np.sqrt(np.diagonal(C) / len(moved))
    assert (np.abs(moved.mean(axis=0)) <= allowed(len(Z)) * rate).all()

    by_samples = spread_of_one_product(C) / np.sqrt(len(moved))
    by_features = spread_of_one_frequency(gp, Z) / np.sqrt(DRAWS * FEATURES / 2)
    error = np.abs(moved.T @ moved / len(moved) - C)
    assert (error <= allowed(len(Z) * (len(Z) + 1) / 2) * (by_samples + by_features)).all()


@pytest.mark.long
def test_paths_of_one_draw_are_independent():
    gp = posterior(50, 1.0)
    Z = probes(gp)
    averages = np.sqrt(PATHS) * deviations(gp, Z, seed=1).mean(axis=1)  # (D, m), again with the posterior's covariance
    C = gp.covariance(Z, Z)
    by_samples = spread_of_one_product(C) / np.sqrt(DRAWS)
    by_features = spread_of_one_frequency(gp, Z) / np.sqrt(DRAWS * FEATURES / 2)
    error = np.abs(averages.T @ averages / DRAWS - C)
    assert (error <= allowed(len(Z) * (len(Z) + 1) / 2) * (by_samples + by_features)).all()


@pytest.mark.long
@pytest.mark.parametrize("s", [0.01, 1.0, 10.0])
def test_far_from_data_the_variance_is_the_output_scale(s):
    rng = np.random.default_rng(3)
    gp = condition(Matern52(np.array([0.05, 0.03]), s), NOISE, 0.1 * rng.random((20, 2)), rng.standard_normal(20))
    Z = np.array([[0.9, 0.2], [0.1, 1.0], [1.0, 1.0], [0.6, 0.7]])
    variances = np.mean(deviations(gp, Z, seed=4) ** 2, axis=(0, 1))
    # cos² + sin² = 1: the frequencies do not matter here.
    np.testing.assert_allclose(variances, s, rtol=allowed(len(Z)) * np.sqrt(2.0 / (DRAWS * PATHS)))


@pytest.mark.parametrize("lengthscale", [ISOTROPIC, ARD], ids=["isotropic", "ard"])
def test_the_waves_have_the_correlation_of_the_kernel(lengthscale):
    frequencies = paths.draw(posterior(5, 1.0, lengthscale), np.random.default_rng(5), features=100_000).frequencies
    A, B = np.random.default_rng(6).random((2, 40, 3))  # pairs in all directions: a product of 1-D kernels would differ
    correlation = np.mean(np.cos((A - B) @ frequencies.T), axis=1)

    def exact(step):
        c = np.sqrt(5.0 * np.sum((step / lengthscale) ** 2, axis=1))
        return (1.0 + c + c**2 / 3.0) * np.exp(-c)

    # cos² x = (1 + cos 2x) / 2, so a cosine has mean k(δ) and mean square (1 + k(2δ)) / 2.
    variance = 0.5 + 0.5 * exact(2.0 * (A - B)) - exact(A - B) ** 2
    assert (np.abs(correlation - exact(A - B)) <= allowed(len(A)) * np.sqrt(variance / len(frequencies))).all()


@pytest.mark.parametrize("s", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("noise", [1e-6, 1e-4])
def test_paths_pass_by_the_data_within_the_noise(noise, s):
    gp = posterior(50, s, noise=noise)
    values = paths.draw(gp, np.random.default_rng(7), count=20)(gp.X)  # (20, n)
    # The posterior mean misses y by noise * alpha, and a path strays from it by less than the noise.
    reach = noise * np.abs(gp.alpha) + allowed(values.size) * np.sqrt(noise)
    assert (np.abs(values - gp.y) <= reach).all()


def test_jitter_counts_as_noise():
    gp = posterior(20, 1.0, noise=1e-3)
    Z = probes(gp)
    jittered = replace(gp, noise=0.0, factor=replace(gp.factor, jitter=gp.noise))  # the same matrix, the same posterior
    expected = paths.draw(gp, np.random.default_rng(17))(Z)
    np.testing.assert_array_equal(paths.draw(jittered, np.random.default_rng(17))(Z), expected)


def test_the_default_has_as_many_features_as_the_paper():
    path = paths.draw(posterior(5, 1.0), np.random.default_rng(0))
    assert path.frequencies.shape == (1000, 3)  # a cosine and a sine of each
    assert path(np.zeros((4, 3))).shape == (1, 4)


@pytest.mark.parametrize(("lengthscale", "d"), [(ISOTROPIC, 3), (ARD, 3), (np.array([0.15]), 1), (ARD[:2], 2)])
def test_gradients_are_central_differences(lengthscale, d):
    gp = posterior(30, 4.0, lengthscale, d=d)
    path = paths.draw(gp, np.random.default_rng(9), count=3, features=500)
    Z = np.random.default_rng(10).random((11, d))
    value, gradient = path.value_and_gradient(Z)
    assert gradient.shape == (3, 11, d)
    np.testing.assert_allclose(value, path(Z), atol=1e-10)
    h = 1e-4
    for i, step in enumerate(h * np.eye(d)):
        near, far = (path(Z + k * step) - path(Z - k * step) for k in (1, 2))
        np.testing.assert_allclose(gradient[:, :, i], (8.0 * near - far) / (12.0 * h), atol=1e-6)


def test_gradients_at_a_datum_and_on_the_edge():
    gp = posterior(30, 1.0, ARD)
    path = paths.draw(gp, np.random.default_rng(11), count=2)
    Z = np.vstack([gp.X[3], [0.0, 1.0, 1.0]])
    h = 1e-4
    near = np.stack([path(Z + step) - path(Z - step) for step in h * np.eye(3)], axis=2)
    np.testing.assert_allclose(path.value_and_gradient(Z)[1], near / (2.0 * h), atol=1e-3)


def test_a_path_is_a_fixed_function():
    gp = posterior(50, 1.0)
    Z = probes(gp)
    path = paths.draw(gp, np.random.default_rng(12), count=2)
    np.testing.assert_array_equal(path(Z), path(Z))
    np.testing.assert_allclose(np.hstack([path(z[None, :]) for z in Z]), path(Z), atol=1e-10)
    np.testing.assert_array_equal(paths.draw(gp, np.random.default_rng(12), count=2)(Z), path(Z))


def test_other_paths_are_other_functions():
    gp = posterior(50, 1.0)
    Z = probes(gp)
    rng = np.random.default_rng(13)
    values = np.vstack([paths.draw(gp, rng, count=2)(Z), paths.draw(gp, rng, count=2)(Z)])
    assert all(len(np.unique(column)) == 4 for column in values.T)


@pytest.mark.parametrize("s", [0.01, 10.0])
def test_single_precision_is_close_to_double(s):
    gp = posterior(50, s)
    path = paths.draw(gp, np.random.default_rng(14), count=3)
    Z = np.random.default_rng(15).random((200, 3))
    single = path(Z.astype(np.float32))
    assert single.dtype == np.float32
    # An angle of size a is known to eps a, a squared distance to eps times the squares it is the difference of.
    angles = np.abs(Z) @ np.abs(path.frequencies).T + path.phases[:, None]  # (S, m, F/2)
    squares = 2.0 * np.sum((0.5 / gp.kernel.lengthscale) ** 2 * np.ones(3))
    bound = (
        np.einsum("sf,smf->sm", path.amplitudes, angles)
        + s * (1.0 + squares) * np.abs(path.update).sum(axis=1)[:, None]
    )
    assert (np.abs(single - path(Z)) <= np.finfo(np.float32).eps * bound).all()


def test_paths_are_frozen():
    path = paths.draw(posterior(5, 1.0), np.random.default_rng(16))
    with pytest.raises(FrozenInstanceError):
        path.amplitudes = np.zeros_like(path.amplitudes)
