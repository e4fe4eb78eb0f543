"""The posterior against scikit-learn, gradients against central differences, more data against starting anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition


@dataclass(frozen=True)
class Case:
    n: int
    lengthscale: tuple[float, ...]
    d: int
    outputscale: float
    noise: float

    @property
    def kernel(self):
        return Matern52(np.array(self.lengthscale), self.outputscale)

    @property
    def rng(self):
        return np.random.default_rng([self.n, self.d])

    @property
    def data(self):
        X = self.rng.random((self.n, self.d))
        return X, np.sin(4.0 * X @ np.arange(1.0, self.d + 1.0)) + X[:, 0]

    @property
    def gp(self):
        return condition(self.kernel, self.noise, *self.data)

    @property
    def Z(self):
        """(7, d), the last of them a datum."""
        Z = np.random.default_rng([self.d, 1]).uniform(-0.2, 1.3, (7, self.d))
        Z[-1] = self.data[0][0]
        return Z

    @property
    def witness(self):
        kernel = ConstantKernel(self.outputscale) * Matern(self.kernel.lengthscale, nu=2.5)
        return GaussianProcessRegressor(kernel, alpha=self.noise, optimizer=None).fit(*self.data)


CASES = {
    "one datum": Case(1, (0.5,), 2, 1.0, 1e-4),
    "line": Case(12, (0.2,), 1, 3.0, 1e-4),
    "isotropic": Case(40, (0.6,), 4, 0.7, 1e-3),
    "ARD": Case(25, (0.3, 2.0, 0.8), 3, 1.6, 1e-2),
    "more coordinates than data": Case(5, (1.2,), 10, 1.0, 0.5),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def central_differences(f, Z, h=1e-5):
    """(m, d): the gradient of f: (m, d) -> (m,) in each row."""
    return np.stack([(f(Z + step) - f(Z - step)) / (2.0 * h) for step in h * np.eye(Z.shape[1])], axis=1)


def assert_same_posterior(one, other, Z, tolerance=1e-10):
    for a, b in zip(one.predict_and_gradient(Z), other.predict_and_gradient(Z), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@each_case
def test_mean_variance_and_joint_covariance_agree_with_scikit_learn(case):
    mean, deviation = case.witness.predict(case.Z, return_std=True)
    _, joint = case.witness.predict(case.Z, return_cov=True)
    mu, var = case.gp.predict(case.Z)
    np.testing.assert_allclose(mu, mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(var), deviation, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(case.gp.covariance(case.Z, case.Z), joint, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(case.gp.covariance(case.Z[:3], case.Z[2:]), joint[:3, 2:], rtol=1e-8, atol=1e-8)


@each_case
def test_all_roads_to_a_prediction_agree(case):
    gp, Z = case.gp, case.Z
    mu, var = gp.predict(Z)
    mu_with_gradient, gradient = gp.mean_and_gradient(Z)
    whole = gp.predict_and_gradient(Z)
    for other in (gp.mean(Z), mu_with_gradient, whole[0]):
        np.testing.assert_allclose(other, mu, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole[1], var, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole[2], gradient, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(gp.covariance(Z, Z)), var, rtol=1e-12, atol=1e-12)


@each_case
def test_gradients_of_mean_and_variance_are_central_differences(case):
    gp, Z = case.gp, case.Z
    _, _, grad_mu, grad_var = gp.predict_and_gradient(Z)
    np.testing.assert_allclose(grad_mu, central_differences(gp.mean, Z), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(grad_var, central_differences(lambda Z: gp.predict(Z)[1], Z), rtol=1e-6, atol=1e-6)


@each_case
def test_steepness_is_the_length_of_the_gradient_and_its_gradient_the_central_difference(case):
    gp, Z = case.gp, case.Z
    slope, gradient = gp.steepness(Z)
    np.testing.assert_allclose(slope, np.linalg.norm(gp.mean_and_gradient(Z)[1], axis=1), rtol=1e-12)
    np.testing.assert_allclose(gradient, central_differences(lambda Z: gp.steepness(Z)[0], Z), rtol=1e-5, atol=1e-5)


@each_case
@pytest.mark.parametrize("steps", [(1,), (4,), (2, 1, 3)])
def test_extended_equals_conditioning_on_the_union(case, steps):
    X, y = case.data
    gp = condition(case.kernel, case.noise, X, y)
    more = case.rng.uniform(0.0, 1.0, (sum(steps), case.d))
    values = np.cos(more.sum(axis=1))
    for end, step in zip(np.cumsum(steps), steps, strict=True):
        gp = gp.extended(more[end - step : end], values[end - step : end])
    union = condition(case.kernel, case.noise, np.vstack([X, more]), np.append(y, values))
    np.testing.assert_array_equal(gp.X, union.X)
    np.testing.assert_array_equal(gp.y, union.y)
    np.testing.assert_allclose(gp.alpha, union.alpha, rtol=1e-9, atol=1e-9)
    assert_same_posterior(gp, union, case.Z)


@each_case
def test_other_values_at_the_same_points_need_no_new_factor(case):
    X, y = case.data
    other = np.cos(3.0 * y)
    gp = condition(case.kernel, case.noise, X, y, constant=0.3)
    again = gp.lasting().measuring(other)
    assert again.factor.L is gp.factor.L
    assert_same_posterior(again, condition(case.kernel, case.noise, X, other, constant=0.3), case.Z)


@each_case
def test_extended_by_a_datum_measured_again_equals_conditioning_on_the_union(case):
    X, y = case.data
    again = case.gp.extended(X[:1], y[:1] + 0.1)
    assert_same_posterior(
        again, condition(case.kernel, case.noise, np.vstack([X, X[:1]]), np.append(y, y[0] + 0.1)), case.Z
    )


def test_jitter_survives_an_extension():
    X = np.repeat([[0.5, 0.5]], 4, axis=0)
    kernel = Matern52(np.array([0.4]), 1.0)
    gp = condition(kernel, 0.0, X, np.ones(4))  # four equal rows and no noise: singular, without rounding
    assert gp.factor.jitter > 0.0
    more, Z = np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([[0.3, 0.3], [0.5, 0.6]])
    union = condition(kernel, gp.factor.jitter, np.vstack([X, more]), np.append(np.ones(4), [2.0, -1.0]))
    extended = gp.extended(more, np.array([2.0, -1.0]))
    assert extended.factor.jitter == gp.factor.jitter
    np.testing.assert_allclose(extended.mean(Z), union.mean(Z), atol=1e-3)  # the condition number is 1e12
    np.testing.assert_allclose(extended.predict(Z)[1], union.predict(Z)[1], atol=1e-3)


@each_case
def test_believed_points_leave_the_mean_and_shrink_the_variance(case):
    gp, Z = case.gp, case.Z
    P = case.rng.uniform(0.0, 1.0, (3, case.d))
    believing = gp.believing(P)
    np.testing.assert_allclose(believing.mean(Z), gp.mean(Z), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(believing.mean(P), gp.mean(P), rtol=1e-10, atol=1e-10)
    assert (believing.predict(Z)[1] <= gp.predict(Z)[1] + 1e-12).all()
    assert (believing.predict(P)[1] < np.minimum(gp.predict(P)[1], case.noise)).all()
    X, y = case.data
    assert_same_posterior(believing, gp.extended(P, gp.mean(P)), Z)
    union = condition(case.kernel, case.noise, np.vstack([X, P]), np.append(y, case.witness.predict(P)))
    assert_same_posterior(believing, union, Z, tolerance=1e-8)


def test_believing_nothing_changes_nothing():
    gp = CASES["ARD"].gp
    assert gp.believing(np.empty((0, 3))) is gp


@each_case
def test_without_noise_the_mean_passes_through_the_data(case):
    X, y = case.data
    gp = condition(case.kernel, 1e-10, X, y)
    np.testing.assert_allclose(gp.mean(X), y, atol=1e-5)
    assert (gp.predict(X)[1] < 1e-9).all()


@each_case
def test_at_a_datum_less_than_the_noise_is_unknown(case):
    X, _ = case.data
    var = case.gp.predict(X)[1]
    assert (var >= 0.0).all()
    assert (var <= case.noise * (1.0 + 1e-9)).all()


def test_rounding_makes_no_variance_negative():
    X = np.random.default_rng(0).random((40, 2))
    gp = condition(Matern52(np.array([0.5]), 1.0), 1e-16, X, X[:, 0])
    white = gp.factor.whiten(gp.kernel(X, X))
    assert (1.0 - (white**2).sum(axis=0) < 0.0).any()  # as rounding leaves it
    assert (gp.predict(X)[1] >= 0.0).all()
    assert (gp.predict_and_gradient(X)[1] >= 0.0).all()


@each_case
def test_far_from_all_data_the_prior_returns(case):
    mu, var = case.gp.predict(np.full((1, case.d), 1e3))
    np.testing.assert_allclose(mu, 0.0, atol=1e-12)
    np.testing.assert_allclose(var, case.outputscale, rtol=1e-12)


@each_case
def test_the_order_of_the_data_does_not_matter(case):
    X, y = case.data
    order = case.rng.permutation(case.n)
    assert_same_posterior(condition(case.kernel, case.noise, X[order], y[order]), case.gp, case.Z)


@each_case
def test_single_precision_mean_is_single_and_close(case):
    gp = case.gp
    Z = case.rng.random((50, case.d))
    single = gp.mean(Z.astype(np.float32))
    assert single.dtype == np.float32
    # Each term of the sum carries the rounding of its weight and of its covariance, see test_kernels.
    largest = (((Z - 0.5) / gp.kernel.lengthscale) ** 2).sum(axis=1).max()
    rounding = 4.0 * float(np.finfo(np.float32).eps) * (1.0 + largest) * case.outputscale
    np.testing.assert_allclose(single, gp.mean(Z), rtol=0.0, atol=rounding * np.abs(gp.alpha).sum())


def test_before_any_data_the_posterior_is_the_prior():
    kernel, Z = Matern52(np.array([0.3]), 2.5), np.random.default_rng(0).random((6, 2))
    gp = condition(kernel, 1e-4, np.empty((0, 2)), np.empty(0))
    mu, var, grad_mu, grad_var = gp.predict_and_gradient(Z)
    for zero in (mu, grad_mu, grad_var):
        np.testing.assert_array_equal(zero, 0.0)
    np.testing.assert_array_equal(var, 2.5)
    np.testing.assert_allclose(gp.covariance(Z, Z), ConstantKernel(2.5)(Z) * Matern(0.3, nu=2.5)(Z), rtol=1e-12)


def test_nothing_asked_is_nothing_answered():
    gp = CASES["ARD"].gp
    assert [part.shape for part in gp.predict_and_gradient(np.empty((0, 3)))] == [(0,), (0,), (0, 3), (0, 3)]
    assert [part.shape for part in gp.predict(np.empty((0, 3)))] == [(0,), (0,)]
