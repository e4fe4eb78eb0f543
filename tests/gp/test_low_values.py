"""How well the lowest values are predicted, by refitting without each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from aegisbo.arrays import Array
from aegisbo.gp import quadratic_model
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.low_values import log_densities, lowest, skill
from aegisbo.gp.output_transform import scale_of, soft_scale_of
from aegisbo.gp.posterior import GP, condition

RNG = np.random.default_rng(0)
X = RNG.random((30, 3))
Y = np.exp(2 * (X**2).sum(axis=1)) + 0.1 * RNG.standard_normal(30)


def plain(X: Array, y: Array) -> GP:
    return condition(Matern52(np.array([0.5, 0.8, 1.1]), 2.0), 0.01, X, y, constant=0.3)


def quadratic(X: Array, y: Array) -> quadratic_model.QuadraticGP:
    """At hyper-parameters that do not depend on the data."""
    none = np.empty((0, 3))
    empty = quadratic_model.QuadraticGP(
        Matern52(np.array([0.7]), 1.5), 2.0, 0.01, none, np.empty(0), plain(none, np.empty(0)).factor, np.empty(0), 0.2
    )
    return empty.extended(X, y)


@pytest.mark.parametrize("given", [plain, quadratic])
def test_each_is_predicted_from_all_others(given: Callable[[Array, Array], GP]) -> None:
    rows = np.array([4, 17, 0])
    found = log_densities(given(X, Y), rows)
    for density, i in zip(found, rows, strict=True):
        others = np.arange(30) != i
        gp = given(X[others], Y[others])
        mean, variance = gp.predict(X[[i]])
        assert density == pytest.approx(norm.logpdf(Y[i], mean, np.sqrt(variance + 0.01))[0], abs=1e-8)


@pytest.mark.parametrize("scale", [scale_of(Y), soft_scale_of(Y), soft_scale_of(Y, 0.25), soft_scale_of(Y, 0.5, 6)])
def test_models_on_different_scales_are_compared_in_the_units_of_the_values(scale) -> None:
    h, rows = 1e-6, np.arange(30)
    slopes = (scale.standardized(Y + h) - scale.standardized(Y - h)) / (2 * h)
    np.testing.assert_allclose(scale.log_slope(Y), np.log(slopes), atol=1e-6)
    gp = plain(X, scale.standardized(Y))
    assert skill(gp, scale, Y, rows) == pytest.approx(log_densities(gp, rows).sum() + np.log(slopes).sum(), abs=1e-4)
    lower = Y.min() + 1e-6
    assert scale.low_unit == pytest.approx(1e-6 / np.ptp(scale.standardized(np.array([Y.min(), lower]))), rel=1e-4)


@pytest.mark.parametrize(("d", "count"), [(1, 3), (2, 5), (5, 16), (10, 50)])
def test_the_lowest_are_three_quarters_of_what_a_quadratic_needs(d: int, count: int) -> None:
    values = np.random.default_rng(1).random(100)
    np.testing.assert_array_equal(values[lowest(values, d)], np.sort(values)[:count])
    assert len(lowest(values[:2], d)) == 2
