"""Above a number of data the posterior is given some of them, and nothing else changes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.gp import additive_fit, low_values
from aegisbo.gp.additive_model import AdditiveHyperparameters
from aegisbo.gp.posterior import GP
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies import surrogates
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.presets import MODERN, modern_model

LIMIT = 60
LOWEST = np.array([0.3, 0.6])


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """As if a few data were many."""
    monkeypatch.setattr(surrogates, "LEARNED_FROM", 20)
    monkeypatch.setattr(surrogates, "LEARNED_FROM_MANY", 15)
    monkeypatch.setattr(surrogates, "CONDITIONED_ON", LIMIT)
    surrogates._base.cache_clear()


def bowl(X):
    return 7.0 + ((X - LOWEST) ** 2 * [1.0, 5.0]).sum(axis=1) + 0.05 * np.sin(12 * X).sum(axis=1)


def evidence_of(n: int, failed: int = 0) -> Evidence:
    """Half of them near the minimum, as a run leaves them."""
    rng = np.random.default_rng(4)
    X = rng.random((n + failed, 2))
    X[1::2] = np.clip(LOWEST + 0.1 * (X[1::2] - 0.5), 0.0, 1.0)
    return Evidence(X[:n], bowl(X[:n]), X[n:], np.empty((0, 2)), Cube((Continuous(), Continuous())))


def learn(evidence, memory=None):
    return MODERN.surrogate.fit(evidence, memory or {}, np.random.default_rng(0))


def exact(evidence, memory, scale):
    """The posterior given everything, at the same hyper-parameters."""
    prior = AdditiveHyperparameters(tuple(memory["phi"]), memory["s"], memory["constant"])
    X, measured = surrogates.data_of(evidence)
    return prior.given(X, scale.standardized(measured))


@pytest.mark.parametrize(("n", "size"), [(LIMIT, 20), (LIMIT + 1, 15)])
def test_hyperparameters_are_learned_from_fewer_data_where_the_posterior_has_not_all(n, size):
    evidence = evidence_of(n)
    belief, memory = learn(evidence)
    rows = np.linspace(0, n - 1, size).round().astype(int)
    y = belief.scale.standardized(evidence.y)
    found = additive_fit.fit(evidence.X[rows], y[rows], modern_model(2), np.random.default_rng(0))
    np.testing.assert_array_equal(memory["phi"], found.hyperparameters.phi)


@pytest.mark.parametrize("n", [40, LIMIT])
def test_up_to_the_limit_no_digit_changes(n, monkeypatch):
    belief, memory = learn(evidence_of(n))
    monkeypatch.setattr(surrogates, "CONDITIONED_ON", 10**9)
    surrogates._base.cache_clear()
    same, same_memory = learn(evidence_of(n))
    Z = np.random.default_rng(1).random((30, 2))
    np.testing.assert_array_equal(belief.gp.predict(Z), same.gp.predict(Z))
    assert memory == same_memory
    assert belief.rows is None


@pytest.mark.parametrize("failed", [0, 15])
def test_above_it_the_posterior_has_so_many_data_and_the_lowest_among_them(failed):
    evidence = evidence_of(150, failed)
    belief, _ = learn(evidence)
    X, measured = surrogates.data_of(evidence)
    assert len(belief.gp.X) == len(belief.rows) == LIMIT
    np.testing.assert_array_equal(belief.gp.X, X[belief.rows])
    np.testing.assert_allclose(belief.scale.measured(belief.gp.y + belief.gp.constant), measured[belief.rows])
    assert set(np.argsort(evidence.y)[: LIMIT // 4]) <= set(belief.rows)
    assert belief.scale.measured(np.array([belief.best]))[0] == pytest.approx(evidence.y.min())


def test_near_the_minimum_it_predicts_nearly_as_all_data_would():
    evidence = evidence_of(400)
    belief, memory = learn(evidence)
    near = np.clip(LOWEST + 0.05 * (np.random.default_rng(5).random((50, 2)) - 0.5), 0.0, 1.0)
    mean = belief.gp.mean(near)
    assert np.abs(mean - exact(evidence, memory, belief.scale).mean(near)).max() < 1e-3
    np.testing.assert_allclose(belief.scale.measured(mean), bowl(near), atol=1e-4)


def test_what_was_asked_before_changes_no_digit():
    _, memory = learn(evidence_of(150))
    for n in (151, 152):
        belief, _ = learn(evidence_of(n), memory)
    surrogates._base.cache_clear()  # as in a run that is continued
    again, _ = learn(evidence_of(152), memory)
    Z = np.random.default_rng(3).random((50, 2))
    np.testing.assert_array_equal(again.gp.predict(Z), belief.gp.predict(Z))


def test_the_skill_is_that_of_the_data_it_has():
    evidence = evidence_of(150, failed=15)
    belief, _ = learn(evidence)
    values = belief.rows[belief.rows < 150]
    lowest = np.argsort(evidence.y[values], kind="stable")[:5]
    log_p = low_values.log_densities(belief.gp, lowest) + belief.scale.log_slope(evidence.y[values][lowest])
    assert belief.skill(evidence.y) == pytest.approx(log_p.sum())


def with_results(n: int, noisy: bool = False) -> Optimizer:
    optimizer = Optimizer([(0, 1), (0, 1)], seed=3, n_initial=0, noisy=noisy)
    evidence = evidence_of(n)
    for x, y in zip(evidence.X, evidence.y, strict=True):
        optimizer.observe(x, y)
    return optimizer


def test_a_run_goes_on_from_its_state_as_if_it_had_never_stopped():
    optimizer = with_results(100)
    for _ in range(3):
        trial = optimizer.ask()
        optimizer.tell(trial, float(bowl(trial.x[None])[0]))
    stopped = Optimizer.from_state(optimizer.state())
    surrogates._base.cache_clear()
    assert stopped.ask() == optimizer.ask()


def test_questions_are_answered_from_all_results():
    optimizer = with_results(100)
    optimizer.ask()
    kept = set(optimizer.model().belief.rows)
    left_out = next(k for k in range(100) if k not in kept)
    explanation = optimizer.explain(optimizer.observed[left_out].x)
    assert explanation.nearest == optimizer.observed[left_out]
    assert explanation.best == optimizer.best


def test_of_noisy_values_the_best_mean_of_all_points_counts():
    optimizer = with_results(100, noisy=True)
    belief = optimizer.model().belief
    means = belief.gp.mean(optimizer.evidence().X)
    assert optimizer.best == optimizer.observed[int(means.argmin())]


@pytest.mark.parametrize(("pending", "size"), [(0, LIMIT), (10, LIMIT - 10), (100, LIMIT - LIMIT // 4)])
def test_it_leaves_room_for_pending_points(pending, size):
    """Which some moves add to it: a suggestion must not take longer because there are many workers."""
    evidence = replace(evidence_of(150), pending=np.random.default_rng(2).random((pending, 2)))
    assert len(learn(evidence)[0].gp.X) == size


@pytest.fixture
def without_collector() -> Iterator[None]:
    """As between two visits of the garbage collector, which may be dozens of suggestions apart."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def posteriors() -> int:
    """How many there are in this process."""
    return sum(isinstance(thing, GP) for thing in gc.get_objects())


@pytest.mark.parametrize("n", [30, 100], ids=["the posterior has all", "it has some"])
def test_no_posterior_outlives_its_suggestion(n, without_collector):
    """Each has matrices of megabytes where data are many: dozens of them took a gigabyte."""
    optimizer, moves, of_others = with_results(n), set(), posteriors()
    for _ in range(16):
        trial = optimizer.ask()
        moves.add(trial.note["move"])
        optimizer.tell(trial, float(bowl(trial.x[None])[0]))
    assert {"thompson", "pareto"} <= moves
    kept = surrogates._base.cache_info().currsize
    assert posteriors() <= kept + of_others
