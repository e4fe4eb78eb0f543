"""The sampler, on densities whose moments are known."""

from __future__ import annotations

import numpy as np
import pytest
from aegis_paper.problems.profet_sghmc import Float32, _GradientSpread, sghmc
from scipy.stats import kurtosis

WEIGHTS = 4000


@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_draws_from_a_gaussian_have_its_moments(sd: float) -> None:
    """Four thousand independent weights, each N(3, sd^2): their draws differ from it by the Monte-Carlo error only."""
    rng = np.random.default_rng(11)

    def gradient(weights: Float32) -> Float32:
        return ((weights - 3) / sd**2).astype(np.float32)

    start = (3 + sd * rng.standard_normal(WEIGHTS)).astype(np.float32)
    draw = next(sghmc(start, gradient, step=0.01, burn_in=3000, spacing=3000, rng=rng))
    assert draw.mean() == pytest.approx(3, abs=4 * sd / np.sqrt(WEIGHTS))
    assert draw.std() == pytest.approx(sd, rel=0.08)
    assert kurtosis(draw) == pytest.approx(0, abs=0.4)  # Gaussian, although the injected noise is not


def test_the_running_means_follow_the_published_recursion() -> None:
    slopes = np.random.default_rng(2).normal(1, 2, size=(20, 3)).astype(np.float32)
    spread = _GradientSpread(3, step=0.01)
    tau, g, v = np.ones(3), np.ones(3), np.ones(3)
    for slope in slopes:
        spread.update(slope)
        rate = 1 / (tau + 1)
        tau = tau + 1 - tau * g**2 / v
        g = g + rate * (slope - g)
        v = v + rate * (slope.astype(np.float64) ** 2 - v)
    np.testing.assert_allclose(spread.inverse, 1 / (np.sqrt(v) + 1e-10), rtol=1e-5)
    noise_variance = 2 * 1e-4 * 0.05 / np.sqrt(v) - 1e-8
    np.testing.assert_allclose(spread.noise_width, np.sqrt(12 * noise_variance), rtol=1e-5)


def test_no_noise_is_added_where_the_gradient_has_more_than_enough() -> None:
    spread = _GradientSpread(2, step=0.01)
    for _ in range(50):
        spread.update(np.array([1e5, 1.0], dtype=np.float32))
    assert spread.noise_width[0] == 0 < spread.noise_width[1]


def test_equal_generators_give_equal_draws_and_the_start_is_left_alone() -> None:
    start = np.zeros(5, dtype=np.float32)
    draws = [next(sghmc(start, np.copy, 0.01, 10, 3, np.random.default_rng(1))) for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    assert not start.any()
    assert draws[0].any()
