"""Tabulated cosines and sines against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.gp.trigonometry import STEPS_PER_TURN, cos_sin

ACCURACY = 2e-15  # a few roundings of the angle, or of one where the angle is smaller


def assert_exact(angles):
    for computed, expected in zip(cos_sin(angles), (np.cos(angles), np.sin(angles)), strict=True):
        assert computed.shape == angles.shape
        assert computed.dtype == np.float64
        assert (np.abs(computed - expected) <= ACCURACY * np.maximum(1.0, np.abs(angles))).all()


@pytest.mark.parametrize("size", [1e-12, 1.0, 10.0, 1e3, 1e6, 1e9])
def test_angles_of_every_size_and_sign(size):
    angles = size * np.random.default_rng(0).uniform(-1.0, 1.0, (7, 500))
    assert_exact(angles)


def test_on_between_and_beside_the_entries_of_the_table():
    step = 2.0 * np.pi / STEPS_PER_TURN
    middles = step * (
        np.arange(-2 * STEPS_PER_TURN, 2 * STEPS_PER_TURN) + 0.5
    )  # two turns each way, where the series has farthest to go
    assert_exact(np.stack([middles - step / 2, np.nextafter(middles, -np.inf), middles, np.nextafter(middles, np.inf)]))


@given(st.floats(-1e6, 1e6))
def test_any_angle(angle):
    assert_exact(np.array([[angle]]))


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (1, 2000), (2000, 1), (3, 0), (13, 17)])
def test_shapes(shape):
    assert_exact(np.random.default_rng(1).uniform(-5.0, 10.0, shape))


def test_rows_may_be_strided():
    assert_exact(np.random.default_rng(2).uniform(-5.0, 10.0, (20, 30)).T[::2])


def test_angles_are_left_as_they_were():
    angles = np.random.default_rng(3).uniform(-5.0, 10.0, (3, 4))
    before = angles.copy()
    cos_sin(angles)
    np.testing.assert_array_equal(angles, before)
