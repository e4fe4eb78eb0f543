"""The logarithm of expected improvement against integrals, SciPy, values of many digits, differences, dense grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition
from aegisbo.search.dominance import ranks
from aegisbo.strategies.log_expected_improvement import log_expected_improvement

BEST = -0.7
SIGMAS = [1e-3, 0.3, 20.0]

# z, log h, Φ/h, φ/h with h = φ(z) + z Φ(z), from mpmath with 80 digits:
#   z = mpf(z); phi = exp(-z*z/2) / sqrt(2*pi); Phi = erfc(-z/sqrt(mpf(2))) / 2; h = phi + z*Phi
TAIL = [
    (-1.0, -2.48512102571264134, 1.90427123332969182, 2.90427123332969182),
    (-5.0, -16.7443011626609901, 5.36181624128808853, 27.8090812064404426),
    (-20.0, -206.917838509425098, 20.0992628111012818, 402.985256222025636),
    (-49.9, -1253.74518366410357, 49.9400320063821132, 2493.00759711846738),
    (-50.1, -1263.75317410146867, 50.1398725790764642, 2513.00761621173093),
    (-200.0, -20011.5156482597393, 200.009999250131218, 40002.9998500262435),
    (-1e4, -50000019.3396193072, 10000.000199999994, 100000002.99999994),
    (-1e6, -500000000028.54996, 1000000.000002, 1000000000003.0),
    (-1e9, -500000000000000042.0, 1e9, 1e18),
]


def gaussian(z, sigma):
    """mu (m,) and var (m,) for which BEST lies z standard deviations above mu."""
    z = np.atleast_1d(np.asarray(z, dtype=float))
    return BEST - z * sigma, np.full(z.shape, sigma**2)


def difference(f, x, h):
    """Derivative of f at x from four values, exact for polynomials up to degree four."""
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)


def grid(d, points, low=0.0, high=1.0):
    """(points^d, d) with the corners of the box."""
    low, high = np.broadcast_to(low, (d,)), np.broadcast_to(high, (d,))
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)


# Expected improvement


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("z", [-6.0, -2.5, -1.0, -0.1, 0.0, 0.4, 3.0, 8.0])
def test_expected_improvement_is_the_integral(z, sigma):
    mu, var = gaussian(z, sigma)
    integral, _ = quad(
        lambda f: (BEST - f) * norm.pdf(f, mu[0], sigma),
        min(mu[0], BEST) - 12.0 * sigma,
        BEST,
        points=[min(mu[0], BEST)],
        epsabs=0.0,
        epsrel=1e-10,
    )
    assert np.exp(log_expected_improvement(mu, var, BEST)[0][0]) == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_expected_improvement_is_equation_3(sigma):
    z = np.linspace(-8.0, 8.0, 321)
    mu, var = gaussian(z, sigma)
    expected = sigma * (z * norm.cdf(z) + norm.pdf(z))
    np.testing.assert_allclose(np.exp(log_expected_improvement(mu, var, BEST)[0]), expected, rtol=1e-11)


def test_the_logarithm_is_finite_however_far_the_mean_lies():
    z = np.concatenate([np.linspace(-45.0, 45.0, 200_001), [-1e9, 1e9]])
    assert np.isfinite(log_expected_improvement(*gaussian(z, 0.3), BEST)).all()


def test_without_uncertainty_the_improvement_is_certain():
    mu = np.array([BEST - 2.0, BEST, BEST + 2.0])
    value, by_mu, by_var = log_expected_improvement(mu, np.zeros(3), BEST)
    np.testing.assert_allclose(np.exp(value), [2.0, 0.0, 0.0], atol=1e-9)
    assert np.isfinite(value).all()
    assert value[0] == pytest.approx(np.log(2.0))
    assert by_mu[0] == pytest.approx(-0.5)
    np.testing.assert_array_equal(by_var, 0.0)


# Its logarithm


@pytest.mark.parametrize("sigma", SIGMAS)
def test_log_expected_improvement_is_the_logarithm(sigma):
    z = np.linspace(-30.0, 50.0, 801)
    value = log_expected_improvement(*gaussian(z, sigma), BEST)[0]
    np.testing.assert_allclose(value, np.log(sigma) + [log_h(each) for each in z], rtol=1e-10, atol=1e-13)


def log_h(z):
    """log of φ(z) + z Φ(z); below 0 the two cancel, and it is that of φ(z) ∫ t exp(z t − t²/2) dt over t > 0."""
    if z > 0.0:
        return np.log(norm.pdf(z) + z * norm.cdf(z))
    integral, _ = quad(lambda t: t * np.exp(z * t - 0.5 * t * t), 0.0, 40.0 / max(1.0, -z), epsabs=0.0, epsrel=1e-12)
    return norm.logpdf(z) + np.log(integral)


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("row", TAIL, ids=lambda row: f"{row[0]:g}")
def test_far_tail_has_many_correct_digits(row, sigma):
    z, log_h, cdf_by_h, density_by_h = row
    mu, var = np.array([-z * sigma]), np.array([sigma**2])
    value, by_mu, by_var = log_expected_improvement(mu, var, 0.0)
    assert value[0] == pytest.approx(np.log(sigma) + log_h, rel=1e-14, abs=3e-11)
    assert by_mu[0] == pytest.approx(-cdf_by_h / sigma, rel=1e-10)
    assert by_var[0] == pytest.approx(density_by_h / (2.0 * sigma**2), rel=1e-10)


@pytest.mark.parametrize("switch", [-1.0, -50.0])
def test_no_step_where_the_formula_changes(switch):
    z = np.array([np.nextafter(switch, -np.inf), switch, np.nextafter(switch, np.inf)])
    for part in log_expected_improvement(*gaussian(z, 1.0), BEST):
        np.testing.assert_allclose(np.diff(part), 0.0, atol=1e-10 * np.abs(part).max())


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("z", [30.0, 3.0, 0.0, -0.9, -1.1, -7.0, -30.0, -49.0, -51.0, -300.0, -1e4])
def test_derivatives_are_differences(z, sigma):
    (mu,), (var,) = gaussian(z, sigma)

    def log_ei(mu, var):
        return log_expected_improvement(np.array([mu]), np.array([var]), BEST)[0][0]

    _, by_mu, by_var = log_expected_improvement(np.array([mu]), np.array([var]), BEST)
    reach = 1e-3 * sigma * max(1.0, abs(z))  # log EI falls like -z²/2: in the tail its scale is z itself
    assert by_mu[0] == pytest.approx(difference(lambda mu: log_ei(mu, var), mu, reach), rel=1e-7)
    slope = difference(lambda var: log_ei(mu, var), var, 1e-3 * var)
    assert by_var[0] == pytest.approx(slope, rel=1e-7, abs=1e-11 / var)


# The claim of section 3


@pytest.mark.parametrize(("d", "points"), [(1, 1001), (2, 45)])
@pytest.mark.parametrize("seed", range(6))
def test_maximizers_of_improvement_and_of_optimism_are_pareto_optimal(seed, d, points):
    rng = np.random.default_rng([seed, d])
    gp = condition(Matern52(np.array([0.2]), 1.5), 1e-4, rng.random((12, d)), rng.standard_normal(12))
    mu, var = gp.predict(grid(d, points))
    front = ranks(np.column_stack([mu, -np.sqrt(var)])) == 0
    assert 1 < front.sum() < len(mu)
    assert front[np.argmax(log_expected_improvement(mu, var, gp.y.min())[0])]
    for beta in (0.1, 0.5, 1.0, 2.0, 5.0, 100.0):
        assert front[np.argmin(mu - beta * np.sqrt(var))]
