"""Measured values without their noise: the posterior mean at the points themselves, in the user's units."""

from __future__ import annotations

import numpy as np
import pytest
from foreign_gp import foreign_gp

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Believer
from aegisbo.strategies.presets import MODERN
from aegisbo.strategies.registry import STRATEGIES, resolve


def noisy_evidence(n: int = 60, failed: int = 0, noise: float = 20.0) -> tuple[Evidence, Array]:
    """A parabola measured with noise, and its true values (n,)."""
    rng = np.random.default_rng(8)
    points = rng.random((n + failed, 2))
    truth = -2000.0 + 100.0 * ((points[:n] - [0.3, 0.8]) ** 2).sum(axis=1)
    cube = Cube((Continuous(), Continuous()))
    return Evidence(points[:n], truth + noise * rng.normal(size=n), points[n:], np.empty((0, 2)), cube), truth


@pytest.mark.parametrize("failed", [0, 3])
def test_the_paper_preset_smooths_as_scikit_learn_does(failed: int) -> None:
    evidence, _ = noisy_evidence(25, failed)
    strategy = resolve("aegis", "paper")
    memory = strategy.suggest(evidence, {}, np.random.default_rng(0)).memory
    means = strategy.believe(evidence, memory, np.random.default_rng(1)).smoothed(evidence.X)
    np.testing.assert_allclose(means, foreign_gp(evidence, memory).predict(evidence.X)[0], rtol=1e-9)
    assert (means != evidence.y).all()


def test_the_modern_preset_smooths_by_the_formula_and_comes_back_from_its_soft_scale() -> None:
    evidence, _ = noisy_evidence()
    gp = MODERN.surrogate.fit(evidence, {}, np.random.default_rng(1))[0].gp
    means = resolve("aegis", "modern").believe(evidence, {}, np.random.default_rng(1)).smoothed(evidence.X)
    scale = soft_scale_of(evidence.y)
    K = gp.kernel(evidence.X, evidence.X) + gp.effects.covariances(evidence.X, evidence.X)
    surprise = scale.standardized(evidence.y) - gp.constant
    expected = gp.constant + K @ np.linalg.solve(K + gp.noise * np.eye(len(K)), surprise)
    np.testing.assert_allclose(scale.standardized(means), expected, atol=1e-6)


def test_smoothing_comes_nearer_to_the_truth() -> None:
    evidence, truth = noisy_evidence()
    means = resolve("aegis", "modern").believe(evidence, {}, np.random.default_rng(1)).smoothed(evidence.X)
    assert np.abs(means - truth).mean() < 0.5 * np.abs(evidence.y - truth).mean()


def test_where_there_is_no_noise_nothing_is_smoothed_away() -> None:
    evidence, truth = noisy_evidence(noise=0.0)
    means = resolve("aegis", "modern").believe(evidence, {}, np.random.default_rng(1)).smoothed(evidence.X)
    np.testing.assert_allclose(means, truth, atol=0.02 * np.ptp(truth))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_with_a_model_smooths(name: str) -> None:
    assert isinstance(resolve(name, "modern"), Believer) == STRATEGIES[name].uses_preset
