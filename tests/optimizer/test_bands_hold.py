"""Whether as many true values lie within the bands of a prediction as these say: on functions of which all is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from aegisbo import Optimizer

pytestmark = pytest.mark.long
BOX = [(-4.0, 5.0), (-3.0, 2.0)]
SEEDS, ASKED = range(3), 200


def smooth(x: np.ndarray) -> float:
    return float(math.sin(x[0]) + 0.3 * (x[1] - 0.5) ** 2 + 0.2 * x[0] * x[1])


def kinked(x: np.ndarray) -> float:
    return float(abs(x[0] - 1.3) + 2.0 * abs(x[1] + 0.5 * x[0]))


def of_many_magnitudes(x: np.ndarray) -> float:
    return float(math.exp(1.5 * abs(x[0] - 1.0)) * ((x[0] - 1.0) ** 2 + (x[1] + 0.5 * x[0]) ** 2) ** 2 + 1e-4)


def shares(fun: Callable[[np.ndarray], float], count: int, seed: int) -> tuple[float, float, float]:
    """Of random points, the shares within the bands of 95 and 50 %, and the median width of the wider one."""
    optimizer = Optimizer(BOX, seed=seed)
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, fun(np.array(trial.x)))
    low, high = np.array(BOX).T
    points = np.random.default_rng(seed).uniform(low, high, (ASKED, 2))
    found, values = optimizer.predict(points), np.array([fun(x) for x in points])
    width = float(np.median(found.high - found.low) / np.ptp(values))
    within = (found.low <= values) & (values <= found.high)
    half = (found.lower <= values) & (values <= found.upper)
    return float(within.mean()), float(half.mean()), width


@pytest.mark.parametrize("fun", [smooth, kinked, of_many_magnitudes])
@pytest.mark.parametrize("count", [15, 30, 60])
def test_as_many_values_lie_within_the_bands_as_they_say(fun: Callable[[np.ndarray], float], count: int) -> None:
    within, half, width = np.mean([shares(fun, count, seed) for seed in SEEDS], axis=0)
    assert within > 0.8  # of one model alone, 0.5 with 15 results over many magnitudes
    assert half > 0.3
    assert width < 1.5
