"""Failing regions: what every move makes of the chance to succeed, and what it remembers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import check_grad

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.gp.success_model import SuccessModel
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.chance import REACH, Expected, NearFailures
from aegisbo.strategies.learned_success import MEMORY, MOST, _labeled, believe_in_success
from aegisbo.strategies.product import product
from aegisbo.strategies.registry import STRATEGIES, resolve

CUBE = Cube((Continuous(), Continuous()))


def evidence_with(failing: bool, n: int = 40, seed: int = 0) -> Evidence:
    """A slope down to the left, where evaluations fail if `failing`."""
    X = np.random.default_rng(seed).random((n, 2))
    bad = (X[:, 0] < 0.4) & failing
    return Evidence(X[~bad], X[~bad, 0] + 0.1 * X[~bad, 1], X[bad], np.empty((0, 2)), CUBE)


class _Wave:
    """A smooth function of two coordinates."""

    def screen(self, Z: Array) -> Array:
        return np.sin(5.0 * Z[:, 0]) + Z[:, 1]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        return self.screen(Z), np.stack([5.0 * np.cos(5.0 * Z[:, 0]), np.ones(len(Z))], axis=1)


CHANCES = (
    NearFailures(np.array([[0.3, 0.4], [0.5, 0.6]])),
    believe_in_success(evidence_with(True), {}, np.random.default_rng(0))[0],
)


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("kind", ["expected", "product"])
def test_objectives_by_definition(chance: SuccessModel | NearFailures, kind: str) -> None:
    Z = np.random.default_rng(1).random((30, 2))
    p, f = np.exp(chance.log_value(Z)), _Wave().screen(Z)
    if kind == "expected":
        objective, values = Expected(_Wave(), chance, 3.0), p * f + (1.0 - p) * 3.0
    else:
        objective, values = product(_Wave(), chance=chance), f - np.log(p)
    np.testing.assert_allclose(objective.screen(Z), values, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(objective.value_and_gradient(Z)[0], values, rtol=1e-7)
    for z in Z[:5]:
        error = check_grad(
            lambda x: objective.value_and_gradient(x[None])[0][0],
            lambda x: objective.value_and_gradient(x[None])[1][0],
            z,
        )
        assert error < 1e-3


def test_a_single_failure_reaches_a_twentieth_of_the_diagonal() -> None:
    near = NearFailures(np.array([[0.5, 0.5]]))
    away = REACH * np.sqrt(2.0) * np.array([[0.0], [1.0], [4.0]]) * np.array([[1.0, 0.0]]) + 0.5
    np.testing.assert_allclose(np.exp(near.log_value(away)), [1e-9, 1.0 - np.exp(-0.5), 1.0], atol=4e-4)


def test_what_is_known_of_failures_goes_through_the_memory() -> None:
    evidence = evidence_with(True)
    chance, memory = believe_in_success(evidence, {"other": 1}, np.random.default_rng(0))
    assert isinstance(chance, SuccessModel)
    again, same = believe_in_success(evidence, json.loads(json.dumps(memory)), np.random.default_rng(99))
    assert same == memory
    assert memory["other"] == 1
    Z = np.random.default_rng(1).random((9, 2))
    np.testing.assert_array_equal(again.log_value(Z), chance.log_value(Z))
    assert believe_in_success(evidence_with(False), {"other": 1}, np.random.default_rng(0)) == (None, {"other": 1})


def test_failures_that_have_no_place_keep_their_neighborhood_only() -> None:
    evidence = evidence_with(False, 60)
    lost = np.arange(60) % 7 == 0
    flaky = Evidence(evidence.X[~lost], evidence.y[~lost], evidence.X[lost], evidence.pending, CUBE)
    chance, memory = believe_in_success(flaky, {}, np.random.default_rng(0))
    assert isinstance(chance, NearFailures)
    assert memory[MEMORY]["learned_at"] == 60


@pytest.mark.parametrize(("good", "bad"), [(10, 700), (700, 10), (400, 400), (30, 20)])
def test_both_kinds_are_learned_from_when_there_are_many(good: int, bad: int) -> None:
    X = np.random.default_rng(0).random((good + bad, 2))
    evidence = Evidence(X[:good], X[:good, 0], X[good:], np.empty((0, 2)), CUBE)
    points, labels = _labeled(evidence)
    assert len(points) == len(labels) == min(good + bad, MOST)
    counts = ((labels > 0).sum(), (labels < 0).sum())
    assert min(counts) >= min(good, bad, MOST // 2)


@pytest.mark.long
@pytest.mark.parametrize("strategy", [name for name, entry in STRATEGIES.items() if entry.uses_preset])
def test_every_strategy_keeps_out_of_a_region_that_fails_although_it_promises_most(strategy: str) -> None:
    """Values fall towards the left edge, and left of 0.4 everything fails."""
    evidence = evidence_with(True, 60)
    by_name = resolve(strategy, "modern")
    suggestions = [by_name.suggest(evidence, {}, np.random.default_rng(seed)) for seed in range(4)]
    blind = [by_name.suggest(values_of(evidence), {}, np.random.default_rng(seed)) for seed in range(4)]
    aware_at, blind_at = (np.median([each.x[0] for each in some]) for some in (suggestions, blind))
    assert aware_at > 0.35
    assert blind_at < aware_at - 0.03
    for each in suggestions:
        chance, _ = believe_in_success(evidence, each.memory, np.random.default_rng(0))
        assert each.note["success"] == pytest.approx(np.exp(chance.log_value(each.x[None]))[0])


def values_of(evidence: Evidence) -> Evidence:
    return Evidence(evidence.X, evidence.y, np.empty((0, 2)), evidence.pending, CUBE)


@pytest.mark.long
def test_an_optimum_at_the_edge_of_what_fails_is_found() -> None:
    """The function falls towards a wall: the least value that can be measured is 0.5."""
    optimizer = Optimizer([(0.0, 1.0), (0.0, 1.0)], seed=1)
    for _ in range(40):
        trial = optimizer.ask()
        if trial.x[0] < 0.5:
            optimizer.fail(trial, "wall")
        else:
            optimizer.tell(trial, trial.x[0] + (trial.x[1] - 0.3) ** 2)
    assert optimizer.result().fun < 0.51
    assert sum(trial.state == "failed" for trial in optimizer.trials[20:]) < 15
