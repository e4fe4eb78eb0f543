"""Where values are noisy, the best is the point with the lowest posterior mean, not the luckiest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Evidence


def noisy_bowl(n: int = 40) -> Evidence:
    """A bowl with noise: the lowest value is not near its middle."""
    rng = default_rng(3)
    X = rng.random((n, 2))
    y = ((X - 0.3) ** 2).sum(axis=1) + 0.15 * rng.standard_normal(n)
    assert np.linalg.norm(X[y.argmin()] - 0.3) > 0.2
    cube = Cube((Continuous(), Continuous()))
    return Evidence(X=X, y=y, cube=cube, failed=np.empty((0, 2)), pending=np.empty((0, 2)), noisy=True)


@pytest.mark.parametrize("preset", ["modern", "adaptive"])
def test_the_best_has_the_lowest_posterior_mean_of_the_evaluated_points(preset: str) -> None:
    evidence = noisy_bowl()
    belief = Aegis(preset=preset).believe(evidence, {}, default_rng(1))
    means = np.array([belief.gp.mean(x[None, :])[0] for x in evidence.X])
    assert belief.best == pytest.approx(means.min())
    assert belief.good is not None
    assert np.array_equal(belief.good[0], evidence.X[means.argmin()])
    assert np.linalg.norm(belief.good[0] - 0.3) < 0.2
    exploring = belief.exploring
    level = exploring.scale.measured(np.array([exploring.lowest]))
    assert level == pytest.approx(belief.scale.measured(np.array([belief.best])))


def test_without_noise_the_best_is_what_was_measured() -> None:
    evidence = replace(noisy_bowl(), noisy=False)
    belief = Aegis().believe(evidence, {}, default_rng(1))
    assert belief.good is None
    assert belief.best == pytest.approx(belief.scale.standardized(evidence.y).min())


def test_a_lucky_value_does_not_keep_aegis_from_exploiting() -> None:
    suggestion = Aegis(epsilon=0.0).suggest(noisy_bowl(), {"opened_at": 5}, default_rng(1))
    assert suggestion.note["move"] == "exploit"
