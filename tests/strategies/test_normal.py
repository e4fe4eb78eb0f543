"""Φ and its slope against SciPy's statistics, and far out against the series of Mills' ratio."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from aegisbo.strategies.normal import log_cdf_and_slope


def test_both_are_those_of_the_normal_distribution() -> None:
    z = np.linspace(-8.0, 8.0, 33)
    value, slope = log_cdf_and_slope(z)
    np.testing.assert_allclose(value, norm.logcdf(z), rtol=1e-13)
    np.testing.assert_allclose(slope, norm.pdf(z) / norm.cdf(z), rtol=1e-12)


def test_the_slope_is_exact_where_the_chance_is_too_small_to_be_written() -> None:
    """φ(−t)/Φ(−t) = t + 1/t − 2/t³ + …"""
    t = np.array([1e3, 1e6, 1e9])
    np.testing.assert_allclose(log_cdf_and_slope(-t)[1], t + 1 / t - 2 / t**3, rtol=1e-15)


def test_a_sure_thing_has_no_slope() -> None:
    assert [part.tolist() for part in log_cdf_and_slope(np.array([60.0, 1e9]))] == [[0.0, 0.0], [0.0, 0.0]]
