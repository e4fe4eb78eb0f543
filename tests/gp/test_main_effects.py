"""Main effects against their closed forms: waves by their definition, variances by SciPy's integral of the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from aegisbo.gp.main_effects import FREQUENCIES, REACH, WAVES, MainEffects, by_coordinate, spectrum, waves
from aegisbo.gp.main_effects import waves_and_slopes as both


def by_definition(Z):
    """(B d, m): sin(ω_b (x_i − ½ + L)) / √L, all coordinates of a wave after each other."""
    return np.vstack([[np.sin(w * (z - 0.5 + REACH)) / np.sqrt(REACH) for z in Z.T] for w in FREQUENCIES])


def matern(r, lengthscale):
    c = np.sqrt(5.0) * np.abs(r) / lengthscale
    return (1.0 + c + c**2 / 3.0) * np.exp(-c)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_waves_are_sines(d):
    Z = np.vstack([np.random.default_rng(d).random((9, d)), np.zeros(d), np.ones(d)])
    np.testing.assert_allclose(waves(Z), by_definition(Z), atol=1e-13)
    single = waves(Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, by_definition(Z), atol=2e-5)


@pytest.mark.parametrize("d", [1, 3])
def test_slopes_are_central_differences(d):
    Z = np.random.default_rng(d).random((6, d))
    phi, slopes = both(Z)
    np.testing.assert_allclose(phi, waves(Z), atol=1e-13)
    h = 1e-5
    for i, step in enumerate(h * np.eye(d)):
        rows = np.arange(i, WAVES * d, d)  # the waves of this coordinate; the others do not move
        moved = (waves(Z + step) - waves(Z - step)) / (2.0 * h)
        np.testing.assert_allclose(slopes[rows], moved[rows], atol=1e-4)
        np.testing.assert_allclose(np.delete(moved, rows, axis=0), 0.0, atol=1e-12)


def test_sums_by_coordinate():
    terms = np.random.default_rng(0).random((WAVES * 3, 4))
    expected = [[sum(terms[b * 3 + i, m] for b in range(WAVES)) for i in range(3)] for m in range(4)]
    np.testing.assert_allclose(by_coordinate(terms, 3), expected, rtol=1e-13)


@pytest.mark.parametrize("lengthscale", [0.1, 0.3, 1.0])
def test_the_spectrum_is_that_of_the_kernel(lengthscale):
    """S(ω) = ∫ k(r) cos(ω r) dr."""
    variances = spectrum(np.array([lengthscale]))[0][:, 0]
    for b in (0, 3, 10):
        exact = (
            2.0 * quad(lambda r: matern(r, lengthscale), 0.0, 60.0 * lengthscale, weight="cos", wvar=FREQUENCIES[b])[0]
        )
        assert variances[b] == pytest.approx(exact, rel=1e-6)


def test_slopes_of_the_spectrum_are_central_differences():
    lengthscales, h = np.array([0.07, 0.4, 3.0]), 1e-6
    up, down = (spectrum(lengthscales * np.exp(sign * h))[0] for sign in (1, -1))
    np.testing.assert_allclose(spectrum(lengthscales)[1], (up - down) / (2.0 * h), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("lengthscale", [0.15, 0.3])
def test_covariances_are_nearly_those_of_the_kernel_inside_the_cube(lengthscale):
    x = np.linspace(0.1, 0.9, 9)[:, None]
    effects = MainEffects(spectrum(np.array([lengthscale]))[0].ravel())
    np.testing.assert_allclose(effects.covariances(x, x), matern(x - x.T, lengthscale), atol=0.03)


@pytest.mark.parametrize(("lengthscale", "face", "middle"), [(0.3, 0.95, 1.0), (0.5, 0.75, 0.98), (1.0, 0.33, 0.65)])
def test_long_effects_have_the_smaller_variances_that_are_documented(lengthscale, face, middle):
    """Against the process with the same spectrum on the whole line, mirrored where the waves vanish."""
    x, period = np.array([0.0, 0.5, 1.0]), 4.0 * REACH
    shifts = period * np.arange(-20, 21)[:, None]
    mirrored = 2.0 * (x - 0.5 + REACH)
    exact = (matern(shifts, lengthscale) - matern(mirrored + shifts, lengthscale)).sum(axis=0)
    effects = MainEffects(spectrum(np.array([lengthscale]))[0].ravel())
    variances = np.diag(effects.covariances(x[:, None], x[:, None]))
    np.testing.assert_allclose(variances, exact, atol=1e-3)
    np.testing.assert_allclose(variances, [face, middle, face], atol=0.005)


def test_covariances_add_up_over_the_coordinates():
    A, B = np.random.default_rng(1).random((2, 5, 3))
    variances = spectrum(np.array([0.1, 0.5, 2.0]))[0]  # (B, 3)
    alone = [MainEffects(variances[:, i]).covariances(A[:, [i]], B[:, [i]]) for i in range(3)]
    np.testing.assert_allclose(MainEffects(variances.ravel()).covariances(A, B), sum(alone), rtol=1e-12)
