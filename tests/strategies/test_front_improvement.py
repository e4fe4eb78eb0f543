"""The expected improvement of hypervolume, against its definition."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import approx_fprime
from scipy.stats.qmc import MultivariateNormalQMC

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.hypervolume import hypervolume, undominated
from aegisbo.strategies.front_improvement import SOFTNESS, Certain, FrontImprovement, Uncertain


class Bowl:
    """A function with a known mean and variance."""

    def __init__(self, center: Array) -> None:
        self.center = center

    def screen(self, Z: Array) -> Array:
        return np.asarray(2.0 * ((Z - self.center) ** 2).sum(axis=1))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        return self.screen(Z), 4.0 * (Z - self.center)

    def predict(self, Z: Array) -> tuple[Array, Array]:
        return self.screen(Z), 0.05 + 0.1 * (Z**2).sum(axis=1)

    def predict_and_gradient(self, Z: Array) -> tuple[Array, Array, Array, Array]:
        return *self.predict(Z), 4.0 * (Z - self.center), 0.2 * Z


def bowls(m: int) -> list[Bowl]:
    return [Bowl(center) for center in default_rng(m).random((m, 3))]


def improvement(m: int, F: Array, *, certain: bool) -> FrontImprovement:
    boxes = undominated(F, np.full(m, 1.5))
    believed: tuple[Any, ...] = tuple(Certain(b) if certain else Uncertain(cast("GP", b)) for b in bowls(m))
    return FrontImprovement(believed, boxes)


@pytest.mark.long
@pytest.mark.parametrize("m", [2, 3])
def test_it_is_the_mean_of_what_is_added(m: int) -> None:
    F = default_rng(1).random((10, m))
    Z = default_rng(2).random((2, 3))
    found = np.exp(-improvement(m, F, certain=False).screen(Z))
    before = hypervolume(F, np.full(m, 1.5))
    units = MultivariateNormalQMC(np.zeros(m), seed=0).random(2048)
    for z, said in zip(Z, found, strict=True):
        mu, var = np.array([np.concatenate(b.predict(z[None])) for b in bowls(m)]).T
        added = [hypervolume(np.vstack([F, mu + np.sqrt(var) * u]), np.full(m, 1.5)) - before for u in units]
        assert said == pytest.approx(np.mean(added), rel=0.03)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_certain_value_adds_what_it_adds(m: int) -> None:
    F = default_rng(1).random((10, m))
    Z = np.array([b.center for b in bowls(m)])[:2]
    found = np.exp(-improvement(m, F, certain=True).screen(Z))
    before = hypervolume(F, np.full(m, 1.5))
    for z, said in zip(Z, found, strict=True):
        value = np.array([float(b.screen(z[None])[0]) for b in bowls(m)])
        assert said == pytest.approx(hypervolume(np.vstack([F, value]), np.full(m, 1.5)) - before, abs=3 * SOFTNESS)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("certain", [True, False])
def test_its_gradient_is_that_of_finite_differences(m: int, certain: bool) -> None:
    found = improvement(m, default_rng(1).random((10, m)), certain=certain)
    Z = default_rng(2).random((5, 3))
    value, gradient = found.value_and_gradient(Z)
    assert value == pytest.approx(found.screen(Z), rel=1e-12)
    for z, slope in zip(Z, gradient, strict=True):
        numeric = approx_fprime(z, lambda x: found.screen(x[None])[0], 1e-7)
        assert slope == pytest.approx(numeric, rel=2e-3, abs=2e-3)


def test_it_is_finite_and_has_a_slope_where_nothing_is_promised() -> None:
    front_far_below = np.full((1, 2), -1e4)
    for certain in (True, False):
        value, gradient = improvement(2, front_far_below, certain=certain).value_and_gradient(np.full((1, 3), 0.9))
        assert np.isfinite(value).all()
        assert np.abs(gradient).max() > 0.0
