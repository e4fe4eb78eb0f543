"""The Matérn-5/2 kernel against scikit-learn, its derivatives and its spectrum against the kernel itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from aegisbo.gp.kernels import Matern52, matern52, matern52_and_slope

KERNELS = {
    "isotropic 1": Matern52(np.array([0.3]), 1.0),
    "isotropic 3": Matern52(np.array([0.7]), 2.5),
    "ARD 3": Matern52(np.array([0.2, 1.5, 0.6]), 0.4),
    "ARD 6": Matern52(np.array([0.5, 0.9, 3.0, 0.4, 1.1, 0.8]), 7.0),
}
each_kernel = pytest.mark.parametrize(("name", "kernel"), KERNELS.items(), ids=KERNELS)


def witness(kernel, A, B):
    return (ConstantKernel(kernel.outputscale) * Matern(kernel.lengthscale, nu=2.5))(A, B)


def points(n, name, seed=0):
    """(n, d), partly outside the cube, no two coordinates alike."""
    d = int(name.split()[-1])
    return np.random.default_rng([seed, d]).uniform(-0.5, 1.0 + 0.2 * np.arange(d), (n, d))


def central_differences(f, z, h=1e-5):
    return np.array([(f(z + step) - f(z - step)) / (2.0 * h) for step in h * np.eye(len(z))])


@each_kernel
def test_covariances_agree_with_scikit_learn(name, kernel):
    A, B = points(8, name), points(11, name, seed=1)
    assert kernel(A, B).shape == (8, 11)
    np.testing.assert_allclose(kernel(A, B), witness(kernel, A, B), rtol=1e-12)


@each_kernel
def test_distances_are_those_of_the_definition_and_never_negative(name, kernel):
    A = points(9, name)
    B = np.vstack([points(5, name, seed=1), A, A + 1e-9])
    by_definition = (((A[:, None, :] - B[None, :, :]) / kernel.lengthscale) ** 2).sum(axis=2)
    squares = kernel.squared_distances(A, B)
    np.testing.assert_allclose(squares, by_definition, rtol=1e-12, atol=1e-13)
    assert (squares >= 0.0).all()


@each_kernel
def test_single_precision_stays_single_and_close(name, kernel):
    A, B = points(20, name), points(30, name, seed=1)
    single = kernel(A.astype(np.float32), B.astype(np.float32))
    assert single.dtype == np.float32
    # The squares lose a few roundings of (a / l)²; the correlation falls by at most 5/6 of what they rise.
    largest = max((((Z - 0.5) / kernel.lengthscale) ** 2).sum(axis=1).max() for Z in (A, B))
    tolerance = 4.0 * float(np.finfo(np.float32).eps) * (1.0 + largest) * kernel.outputscale
    np.testing.assert_allclose(single, kernel(A, B), rtol=0.0, atol=tolerance)


@each_kernel
def test_gram_is_symmetric_with_the_output_scale_on_its_diagonal(name, kernel):
    X = points(25, name)
    X[7] = X[3]
    K = kernel.gram(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), kernel.outputscale)
    np.testing.assert_allclose(K, witness(kernel, X, X), rtol=1e-12)


@each_kernel
@pytest.mark.parametrize("weights_of_each_point", [False, True])
def test_weighted_gradient_is_the_central_difference(name, kernel, weights_of_each_point):
    X, Z = points(12, name), points(5, name, seed=1)
    Z[2] = X[4]  # where the distance is zero
    rng = np.random.default_rng(3)
    W = rng.standard_normal((5, 12)) if weights_of_each_point else np.tile(rng.standard_normal(12), (5, 1))
    slopes = matern52_and_slope(kernel.squared_distances(Z, X))[1]
    gradient = kernel.weighted_gradient(Z, X, slopes, W if weights_of_each_point else W[0])
    for z, w, row in zip(Z, W, gradient, strict=True):
        differences = central_differences(lambda z, w=w: float(witness(kernel, z[None], X)[0] @ w), z)
        np.testing.assert_allclose(row, differences, rtol=1e-6, atol=1e-7)


@each_kernel
def test_weighted_bend_is_the_central_difference_of_the_gradient(name, kernel):
    X, Z = points(12, name), points(4, name, seed=1)
    Z[2] = X[4]
    rng = np.random.default_rng(3)
    weights, V = rng.standard_normal(12), rng.standard_normal(Z.shape)
    squares = kernel.squared_distances(Z, X)
    bent = kernel.weighted_bend(Z, X, squares, matern52_and_slope(squares)[1], weights, V)

    def gradient(z):
        slopes = matern52_and_slope(kernel.squared_distances(z[None], X))[1]
        return kernel.weighted_gradient(z[None], X, slopes, weights)[0]

    for z, v, row in zip(Z, V, bent, strict=True):
        np.testing.assert_allclose(row, central_differences(gradient, z) @ v, rtol=1e-6, atol=1e-6)


def test_all_ways_to_evaluate_it_agree():
    r = np.append(0.0, np.geomspace(1e-6, 30.0, 200))
    expected = Matern(1.0, nu=2.5)(r[:, None], np.zeros((1, 1)))[:, 0]
    slopes_expected = (1.0 + np.sqrt(5.0) * r) * np.exp(-np.sqrt(5.0) * r)
    correlations, slopes = matern52_and_slope(r**2)
    np.testing.assert_allclose(matern52(r**2), expected, rtol=1e-13)
    np.testing.assert_allclose(correlations, expected, rtol=1e-13)
    np.testing.assert_allclose(slopes, slopes_expected, rtol=1e-13)


DRAWS = 200_000


@pytest.mark.parametrize("lengthscale", [[0.4], [0.3, 1.2, 0.7]], ids=["isotropic", "ARD"])
def test_average_cosine_of_spectral_draws_is_the_correlation_in_every_direction(lengthscale):
    kernel = Matern52(np.array(lengthscale), 3.0)  # whose output scale is no concern of the frequencies
    correlation = Matern(kernel.lengthscale, nu=2.5)
    W = kernel.spectral_draws(DRAWS, 3, np.random.default_rng(11))
    assert W.shape == (DRAWS, 3)
    origin = np.zeros((1, 3))
    directions = np.array([[1.0, 1.0, 1.0], [1.0, -2.0, 0.5], [0.3, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for r in np.vstack([0.2 * directions, 0.5 * directions]):
        once, twice = (float(correlation(origin, k * r[None])[0, 0]) for k in (1, 2))
        variance = (1.0 + twice) / 2.0 - once**2  # of cos(w · r)
        assert abs(np.cos(W @ r).mean() - once) < 4.0 * np.sqrt(variance / DRAWS)


@pytest.mark.parametrize("lengthscale", [[0.4], [0.3, 1.2, 0.7]], ids=["isotropic", "ARD"])
def test_each_coordinate_of_a_spectral_draw_is_student_t_with_five_degrees(lengthscale):
    kernel = Matern52(np.array(lengthscale), 1.0)
    W = kernel.spectral_draws(20_000, 3, np.random.default_rng(5)) * kernel.lengthscale
    for coordinate in W.T:
        assert stats.kstest(coordinate, stats.t(5).cdf).pvalue > 0.01


def test_equal_generators_give_equal_spectral_draws():
    kernel = KERNELS["isotropic 3"]
    first, second = (kernel.spectral_draws(5, 3, np.random.default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
