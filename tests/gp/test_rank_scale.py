"""Outputs by their ranks against normal scores, the density that they were drawn from, and any rising map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import lognorm, norm, rankdata

from aegisbo.gp.output_transform import scale_of
from aegisbo.gp.rank_scale import rank_scale_of

Y = np.array([3.0, -1.0, 7.5, 3.0, 1e12, 0.0, 3.0])  # with ties and an outlier


def test_values_become_normal_scores_with_mean_zero_and_variance_one():
    scores = norm.ppf((rankdata(Y) - 0.5) / len(Y))
    expected = (scores - scores.mean()) / scores.std(ddof=1)
    np.testing.assert_allclose(rank_scale_of(Y).standardized(Y), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rising", [np.arctan, np.cbrt, lambda y: 1e200 * y, lambda y: 1e-250 * y - 1e-240])
def test_only_the_order_of_the_values_counts(rising):
    y = np.random.default_rng(0).normal(size=30)
    np.testing.assert_allclose(
        rank_scale_of(rising(y)).standardized(rising(y)), rank_scale_of(y).standardized(y), rtol=1e-9
    )


@pytest.mark.parametrize("y", [Y, 1e-200 * Y, -Y, np.array([2.0, 1.0])])
def test_values_return_from_the_scale_also_beyond_those_measured(y):
    scale = rank_scale_of(y)
    lowest, highest = y.min(), y.max()
    looked_at = np.concatenate([y, [lowest - 0.5 * (highest - lowest), highest + 3.0 * (highest - lowest)]])
    z = scale.standardized(looked_at)
    assert z[-2] < z[:-2].min() < z[:-2].max() < z[-1]
    np.testing.assert_allclose(scale.measured(z), looked_at, rtol=1e-9, atol=1e-9 * np.abs(y).max())


def test_the_slope_is_that_of_the_law_that_the_values_come_from():
    """The logarithm makes log-normal values normal, so dz/dy is 1/(s y); a twentieth is chance with 20,000 values."""
    law = lognorm(s=1.5)
    y = law.rvs(20_000, random_state=np.random.default_rng(1))
    some = law.ppf([0.1, 0.3, 0.5, 0.8, 0.95])
    np.testing.assert_allclose(rank_scale_of(y).log_slope(some), -np.log(1.5 * some), atol=0.3)


def test_beyond_the_values_it_goes_on_as_steep_as_it_ends():
    scale, ends = rank_scale_of(Y), np.array([Y.min(), Y.max()])
    beyond = np.array([-0.5, 1e10])
    np.testing.assert_allclose(
        scale.standardized(ends + beyond), scale.standardized(ends) + np.exp(scale.log_slope(ends)) * beyond, rtol=1e-9
    )


def test_a_unit_near_the_lowest_values_is_the_inverse_of_the_slope_there():
    scale = rank_scale_of(Y)
    assert scale.low_unit == pytest.approx(np.exp(-scale.log_slope(np.array([Y.min()]))[0]))


@pytest.mark.parametrize("y", [np.array([1e308, -1.7e308, 3.0]), np.array([1e-320, 0.0, 1.0, 5e-324])])
def test_values_as_large_and_as_close_as_numbers_can_be(y):
    scale = rank_scale_of(y)
    for told in (scale.standardized(y), scale.log_slope(y), scale.measured(np.array([-50.0, 0.0, 50.0]))):
        assert np.isfinite(told).all()


def test_equal_values_have_a_plain_scale():
    assert rank_scale_of(np.full(3, 2.5)) == scale_of(np.full(3, 2.5))
