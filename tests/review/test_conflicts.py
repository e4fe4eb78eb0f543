"""Which objectives are in conflict, against cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

import aegisbo
from aegisbo.arrays import Array
from aegisbo.review.conflicts import Conflict, conflicts, price, rank_correlation
from aegisbo.review.landscape import models_of
from aegisbo.review.predicted_front import PredictedFront, predicted_front
from aegisbo.space import Params

GRID = np.linspace(0.0, 1.0, 201)
X, Y = (each.ravel() for each in np.meshgrid(GRID, GRID))


@pytest.mark.parametrize(
    ("F", "typical", "expected"),
    [
        (np.stack([X, X], axis=1), 0.5, 0.0),  # identical
        (np.stack([GRID, 1.0 - GRID], axis=1), 0.5, 1.0),  # opposite: what one gains the other loses
        (np.stack([X, Y], axis=1), 0.5, 0.0),  # independent: both can be best at once
        (np.stack([GRID**2, (1.0 - GRID) ** 2], axis=1), 1.0, 0.25),  # a front that bends to the ideal point
        (np.stack([GRID, np.ones(201)], axis=1), 1.0, 0.0),  # one is the same everywhere
    ],
)
def test_the_price_of_known_fronts(F: Array, typical: float, expected: float) -> None:
    found = price(F, np.full(2, typical))
    assert found == pytest.approx(expected, abs=1e-9)
    assert price(F * [3.0, 0.01] + [7.0, -2.0], typical * np.array([3.0, 0.01]) + [7.0, -2.0]) == pytest.approx(found)


def test_ranks_are_those_of_scipy_also_with_ties() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (2, 60)).astype(float)
    assert rank_correlation(a, b + 0.5 * a) == pytest.approx(spearmanr(a, b + 0.5 * a).statistic)
    assert rank_correlation(a, np.ones(60)) is None


def test_along_the_front_is_told_of_three_objectives_only() -> None:
    spread = np.random.default_rng(0).random((50, 3))
    F = np.stack([GRID, 1.0 - GRID, GRID**2], axis=1)
    found = {(each.one, each.other): each for each in conflicts("abc", PredictedFront(F, F, spread))}
    assert found["a", "b"].along == pytest.approx(-1.0)
    assert found["a", "c"].along == pytest.approx(1.0)
    (pair,) = conflicts("ab", PredictedFront(F[:, :2], F[:, :2], spread[:, :2]))
    assert pair.along is None
    assert conflicts("ab", PredictedFront(F[:, :2], F[:, :2], spread[:0, :2])) == ()


def test_what_is_said() -> None:
    assert Conflict("a", "b", 0.18, -0.25, None).text == (
        "a and b are in conflict: at any point one of them gives up 18% of what it can gain "
        "(rank correlation -0.25 over the space)."
    )
    assert Conflict("a", "b", 0.004, None, None).text == (
        "a and b are hardly in conflict: some point is within 1% of what each can gain."
    )


def bowl(params: Params, x: float, y: float) -> float:
    return float((params["x"] - x) ** 2 + 10.0 * (params["y"] - y) ** 2)


CASES = {
    "identical": (lambda p: bowl(p, 1.0, 2.3), lambda p: -3.0 * bowl(p, 1.0, 2.3), False, 1.0),
    "opposite": (lambda p: p["x"], lambda p: p["x"], True, -1.0),
    "independent": (lambda p: (p["x"] - 1.0) ** 2, lambda p: -((p["y"] - 2.3) ** 2), False, 0.0),
    "apart": (lambda p: bowl(p, -3.0, 2.5), lambda p: -bowl(p, 8.0, 2.5), True, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_models_of_a_run_tell_which_objectives_are_in_conflict(case: str) -> None:
    one, other, clash, agreement = CASES[case]
    space = {"x": aegisbo.Real(-5, 10), "y": aegisbo.Real(2, 3)}
    optimizer = aegisbo.Optimizer(space, objectives={"one": "min", "other": "max"}, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        params = {"x": rng.uniform(-5, 10), "y": rng.uniform(2, 3)}
        optimizer.observe(params, {"one": one(params), "other": other(params)})
    found = predicted_front(models_of(optimizer), ())
    assert found is not None
    (pair,) = conflicts(["one", "other"], found)
    assert ("are in conflict" in pair.text) == clash
    assert pair.price > 0.15 if clash else pair.price < 0.03
    if agreement is not None:
        assert pair.agreement == pytest.approx(agreement, abs=0.1)
