"""Standardized outputs against the textbook, and whatever size the outputs have."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from aegisbo.gp.output_transform import scale_of, soft_scale_of, without_penalties

SHAPES = {
    "two": np.array([3.0, -1.0]),
    "uneven": np.array([1.0, 2.0, 4.0, -8.0, 16.0, 0.5]),
    "positive": 5.0 + np.random.default_rng(1).random(40),
    "one outlier": np.append(np.zeros(9), 1.0),
}


def standardized(y):
    return scale_of(y).standardized(y)


each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@each_shape
def test_ordinary_values_are_standardized_as_by_the_textbook(shape):
    mean, deviation = statistics.mean(shape.tolist()), statistics.stdev(shape.tolist())  # in exact fractions
    np.testing.assert_allclose(standardized(shape), (shape - mean) / deviation, rtol=1e-12, atol=1e-13)


@each_shape
def test_result_has_mean_zero_and_unbiased_variance_one(shape):
    z = standardized(shape)
    assert z.mean() == pytest.approx(0.0, abs=1e-13)
    assert z.var(ddof=1) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-12, 1e12, 1e200, 1e306])
@each_shape
def test_size_does_not_matter(shape, size):
    np.testing.assert_allclose(standardized(size * shape), standardized(shape), rtol=1e-12, atol=1e-13)


@each_shape
def test_sign_is_kept(shape):
    np.testing.assert_allclose(standardized(-shape), -standardized(shape), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shift", [-1e3, 7.0, 1e6])
@each_shape
def test_shift_does_not_matter_beyond_its_own_rounding(shape, shift):
    rounding = 4.0 * abs(shift) * float(np.finfo(float).eps) / shape.std(ddof=1)
    np.testing.assert_allclose(standardized(shape + shift), standardized(shape), rtol=1e-12, atol=1e-13 + rounding)


@pytest.mark.parametrize("y", [1e308 * np.array([-1.0, 1.0, 0.25]), np.array([-1.0, 1.0]) * np.finfo(float).max])
def test_values_as_far_apart_as_numbers_can_be(y):
    np.testing.assert_allclose(standardized(y), standardized(y / 1e308), rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, -3.0, 0.1, 1e308, 1e-320])
@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_equal_values_become_zeros_and_return(value, n):
    y = np.full(n, value)
    np.testing.assert_array_equal(standardized(y), np.zeros(n))
    np.testing.assert_array_equal(scale_of(y).measured(np.zeros(n)), y)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@each_shape
def test_measured_values_and_deviations_return_from_the_standardized_scale(shape, size):
    y = size * (shape + 0.3)
    scale = scale_of(y)
    np.testing.assert_allclose(scale.measured(scale.standardized(y)), y, rtol=1e-12, atol=1e-13 * size)
    # In the user's units one standardized standard deviation is that of the data.
    deviation = size * statistics.stdev(shape.tolist())
    np.testing.assert_allclose(np.diff(scale.measured(np.array([0.0, 1.0]))), [deviation], rtol=1e-11)
    assert scale.measured(np.zeros(1))[0] == pytest.approx(size * statistics.mean((shape + 0.3).tolist()), rel=1e-12)


def test_what_would_be_larger_than_any_number_is_the_largest():
    largest = float(np.finfo(float).max)
    scale = scale_of(np.array([-largest, largest]))
    np.testing.assert_allclose(scale.measured(np.array([-9.0, 9.0])), [-largest, largest], rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@each_shape
def test_the_soft_scale_is_linear_below_the_median_and_logarithmic_above(shape, size):
    y = size * shape
    scale = soft_scale_of(y)
    if np.median(shape) == shape.min():
        assert scale == scale_of(y)
        return
    z = (shape - np.median(shape)) / (np.median(shape) - shape.min())
    expected = standardized(np.array([math.log1p(v) if v > 0 else v for v in z]))
    np.testing.assert_allclose(scale.standardized(y), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(scale.measured(scale.standardized(y)), y, rtol=1e-9, atol=1e-10 * size)


def test_the_soft_scale_keeps_the_order_and_tames_an_outlier():
    y = np.append(np.linspace(0.0, 1.0, 20), 1e12)
    z = soft_scale_of(y).standardized(y)
    assert (np.diff(z) > 0.0).all()
    assert np.ptp(z[:20]) > 50 * np.ptp(standardized(y)[:20])
    assert np.isfinite(soft_scale_of(y).measured(np.array([-1e4, 1e4]))).all()


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([3.0, 1e30, 1.0, 1e30, 2.0], [3.0, 1.0, 2.0]),
        ([1.7e308, -1.7e308, 3.0], [1.7e308, -1.7e308, 3.0]),
        ([1.0, 1e12, 1e30, 2.0], [1.0, 2.0]),
        ([5.0, 1e30], [5.0, 1e30]),  # of two kinds nobody knows which is strange
        ([1e-9, 100.0, 90.0, 1e-12], [1e-9, 100.0, 90.0, 1e-12]),  # low values that have been found
        ([1e6, 0.0, 2.0], [1e6, 0.0, 2.0]),
        ([4.0], [4.0]),
    ],
)
def test_penalties_are_told_from_values(y, expected):
    assert without_penalties(np.array(y)).tolist() == expected


def test_penalties_among_the_first_values_do_not_widen_the_unit():
    y = np.append([1e30, 3.0, 1e30, 1.0, 1e30, 2.0], np.linspace(0.0, 0.1, 20))
    wide = soft_scale_of(y, early=6)
    assert wide.unit * wide.size == pytest.approx(0.3 * statistics.median([3.0, 1.0, 2.0, *y[6:9]]))
    assert np.unique(wide.standardized(y[6:]).round(6)).size == 20, "low values are told apart"


@pytest.mark.parametrize("penalty", [1e6, 1e30, 1e300, 1.7e308])
def test_penalties_leave_the_low_values_apart(penalty):
    y = np.append(np.linspace(0.0, 1.0, 20), [penalty] * 8)
    scale = soft_scale_of(y)
    z = scale.standardized(y)
    assert np.ptp(z[:14]) > 0.1  # the low half of all; with one logarithm 0.03 at 1e30 and 0.003 at 1e300
    unit = np.median(y) - y.min()
    tail = math.log(penalty) - math.log(unit)
    assert (z[-1] - z[13]) / (z[13] - z[12]) == pytest.approx(
        (8.0 + math.log1p(tail - 8.0) - (y[13] - np.median(y)) / unit) / ((y[13] - y[12]) / unit), rel=0.002
    )
    if penalty < 1e300:
        np.testing.assert_allclose(scale.measured(z), y, rtol=1e-9)
        step = 1e-6 * penalty
        slope = np.diff(scale.standardized(np.array([penalty - step, penalty + step])))[0] / (2 * step)
        assert scale.log_slope(np.array([penalty]))[0] == pytest.approx(math.log(slope), abs=1e-6)


def test_values_given_are_not_altered():
    y = np.array([1.0, 2.0, 4.0])
    z = standardized(y)
    np.testing.assert_array_equal(y, [1.0, 2.0, 4.0])
    assert not np.shares_memory(y, z)
