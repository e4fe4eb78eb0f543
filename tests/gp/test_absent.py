"""What a coordinate means to the model where its parameter is not there."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.gp import additive_fit
from aegisbo.gp.main_effects import waves
from aegisbo.space.cube import ABSENT
from aegisbo.strategies.presets import modern_model


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_there_is_no_main_effect(precision) -> None:
    Z = np.array([[ABSENT, 0.3], [0.0, ABSENT]], precision)
    phi = waves(Z).reshape(-1, 2, 2)  # wave, coordinate, point
    assert (phi[:, 0, 0] == 0).all()
    assert (phi[:, 1, 1] == 0).all()
    assert (phi[:, 1, 0] != 0).any()


def test_a_function_that_jumps_where_a_parameter_appears() -> None:
    """The gate lets `inner` appear and lowers the level by one; both sides are smooth, and known in closed form."""
    rng = np.random.default_rng(0)

    def points(count: int) -> np.ndarray:
        gate, inner = rng.random((2, count))
        return np.stack([gate, np.where(gate > 0.5, inner, ABSENT)], axis=1)

    def function(Z: np.ndarray) -> np.ndarray:
        return (Z[:, 0] - 0.3) ** 2 + np.where(Z[:, 1] == ABSENT, 1.0, (Z[:, 1] - 0.7) ** 2)

    X, Z = points(30), points(200)
    gp = additive_fit.fit(X, function(X), modern_model(2), np.random.default_rng(1)).gp
    error = gp.mean(Z) - function(Z)
    assert np.sqrt((error**2).mean()) < 0.05
    K = gp.covariances(gp.X)
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() > -1e-9 * K.max()
    # Imputed in the middle of its range instead, the same function cannot be told from a rough one.
    middle, middle_Z = np.where(X == ABSENT, 0.5, X), np.where(Z == ABSENT, 0.5, Z)
    other = additive_fit.fit(middle, function(X), modern_model(2), np.random.default_rng(1)).gp
    assert np.sqrt(((other.mean(middle_Z) - function(Z)) ** 2).mean()) > 0.1
