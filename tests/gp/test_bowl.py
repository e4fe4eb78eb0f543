"""The bowl with noise that grows with its height, against another optimizer, other units, and bowls that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2, norm

from aegisbo.gp.bowl import bowl_of

D = 3
TURN = np.array([[2.0, 0.0, 0.0], [0.7, 0.5, 0.0], [-0.4, 0.3, 1.2]])
BOTTOM = np.array([0.4, -0.3, 0.1])


def measured(n: int, seed: int, sigma: float = 1.0):
    """Points around 0, about 1 away, and values of a turned bowl above −7, with noise that multiplies its height."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, D))
    height = (((U - BOTTOM) @ TURN.T) ** 2).sum(axis=1)
    return U, height * np.exp(sigma * rng.normal(size=n)) - 7.0


def by_definition(U, y):
    """The most likely phi by SciPy's least squares with numerical slopes, its covariance, σ, errors and slopes."""
    n, triangle = len(y), np.tril_indices(D)
    above = y - y.min()
    z = np.log(above + 0.01 * np.median(above))
    center = np.r_[np.zeros(D), np.eye(D)[triangle], -1.2, np.log(np.median(above))]
    scale = np.r_[np.full(D, 1.0), np.full(6, 0.5), 1.5, np.inf]

    def residuals(phi, sigma):
        L = np.zeros((D, D))
        L[triangle] = phi[3:9]
        q = (((U - phi[:3]) @ L.T) ** 2).sum(axis=1) / D + np.exp(phi[9])
        return np.r_[(z - phi[10] - np.log(q)) / sigma, (phi - center) / scale]

    phi, sigma = center, 1.0
    for _ in range(3):
        found, used = least_squares(residuals, phi, args=(sigma,), xtol=1e-12, ftol=1e-12), sigma
        phi, errors, slopes = found.x, used * found.fun[:n], -used * found.jac[:n]
        covariance = np.linalg.inv(found.jac.T @ found.jac)
        leverage = np.einsum("ij,jk,ik->i", slopes, covariance, slopes) / used**2
        sigma = np.sqrt((errors**2).sum() / (1.0 - leverage).sum())
    return phi, covariance, sigma, errors, slopes, z


def test_the_bottom_is_the_most_likely_one():
    U, y = measured(120, 0)
    phi, covariance, *_ = by_definition(U, y)
    bowl = bowl_of(U, y)
    np.testing.assert_allclose(bowl.bottom, phi[:3], atol=1e-3)
    np.testing.assert_allclose(bowl.covariance, covariance[:3, :3], rtol=0.02, atol=1e-4)


def test_each_value_is_predicted_from_the_others():
    """Leave one out, and fit the others anew where the model is linear: near the most likely parameters."""
    U, y = measured(40, 5)
    phi, _, sigma, errors, slopes, z = by_definition(U, y)
    center, precision = (
        np.r_[np.zeros(3), np.eye(3)[np.tril_indices(3)], -1.2],
        np.r_[np.ones(3), np.full(6, 4.0), 1 / 2.25],
    )
    prior, pull = np.diag(np.r_[precision, 0.0]), np.r_[precision * (phi[:-1] - center), 0.0]
    total = -z.sum()
    for i in range(40):
        others = np.arange(40) != i
        covariance = np.linalg.inv(slopes[others].T @ slopes[others] / sigma**2 + prior)
        step = covariance @ (slopes[others].T @ errors[others] / sigma**2 - pull)
        spread = np.sqrt(sigma**2 + slopes[i] @ covariance @ slopes[i])
        total += norm.logpdf(errors[i] - slopes[i] @ step, scale=spread)
    assert bowl_of(U, y).log_density == pytest.approx(total, abs=0.3)


def test_the_bottom_lies_within_its_uncertainty():
    """Over forty bowls the squared distance to the true bottom, in standard deviations, is a χ² of three degrees."""
    squares = []
    for seed in range(40):
        bowl = bowl_of(*measured(150, seed))
        away = bowl.bottom - BOTTOM
        squares.append(away @ np.linalg.solve(bowl.covariance, away))
    inside = np.mean(np.array(squares) < chi2.ppf(0.9, D))
    assert 0.75 <= inside <= 1.0
    assert np.mean(squares) < 2.0 * D


def test_less_noise_shows_the_bottom_better():
    """To a twentieth, where the lowest points are about 1 away; how far c lies below them sets the limit."""
    np.testing.assert_allclose(bowl_of(*measured(150, 1, sigma=0.1)).bottom, BOTTOM, atol=0.05)


def test_values_are_predicted_as_well_as_the_noise_allows():
    """Per value, −½ log(2πe σ²) of the noise less the mean log height is the most that anything can reach."""
    U, y = measured(2000, 2)
    height = (((U - BOTTOM) @ TURN.T) ** 2).sum(axis=1)
    best = norm.logpdf(np.log((y + 7.0) / height)).sum() - np.log(y + 7.0).sum()
    assert -40.0 < bowl_of(U, y).log_density - best < 40.0


@pytest.mark.parametrize("unit", [1e-200, 1e6, 1e200])
def test_units_do_not_matter(unit):
    U, y = measured(60, 3)
    one, other = bowl_of(U, y), bowl_of(U, unit * y)
    np.testing.assert_allclose(other.bottom, one.bottom, rtol=1e-6)
    assert other.log_density == pytest.approx(one.log_density - 60 * np.log(unit), rel=1e-9)


def test_there_is_none_where_half_of_the_values_are_equally_low():
    U, y = measured(20, 4)
    assert bowl_of(U, np.where(np.arange(20) < 9, y.min(), y)) is not None
    assert bowl_of(U, np.where(np.arange(20) < 12, y.min(), y)) is None
