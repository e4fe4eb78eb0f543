from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from foreign_gp import foreign_gp

from aegisbo import Optimizer
from aegisbo.gp import isotropic_fit
from aegisbo.space.cube import Continuous, Cube, OneHot
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.presets import PAPER

SURROGATE = PAPER.surrogate
BOX = [(-5, 10), (2, 3)]


def some_evidence(n: int = 9, failed: int = 0, cube: Cube | None = None, seed: int = 0) -> Evidence:
    cube = cube or Cube((Continuous(), Continuous()))
    points = cube.fill(np.random.default_rng(seed).random((n + failed, cube.parameters)))
    y = -2000.0 + 30.0 * np.sin(5 * points[:n]).sum(axis=1)
    return Evidence(points[:n], y, points[n:], np.empty((0, cube.width)), cube)


def fit(evidence: Evidence, memory=None, seed: int = 0):
    return SURROGATE.fit(evidence, memory or {}, np.random.default_rng(seed))


@pytest.fixture
def fits(monkeypatch):
    """The warm starts of all fits made, None for a cold one."""
    calls, real = [], isotropic_fit.fit

    def spy(X, y, model, rng, warm=None):
        calls.append(warm)
        return real(X, y, model, rng, warm=warm)

    monkeypatch.setattr(isotropic_fit, "fit", spy)
    return calls


# Belief


def test_failures_count_as_the_worst_value_measured():
    evidence = some_evidence(9, failed=3)
    worst = replace(
        evidence,
        X=np.vstack([evidence.X, evidence.failed]),
        y=np.append(evidence.y, [evidence.y.max()] * 3),
        failed=evidence.failed[:0],
    )
    (belief, memory), (same, same_memory) = fit(evidence), fit(worst)
    Z = np.random.default_rng(1).random((20, 2))
    np.testing.assert_array_equal(belief.gp.predict(Z), same.gp.predict(Z))
    assert belief.best == same.best
    assert memory["phi"] == same_memory["phi"]


def test_the_best_is_the_lowest_value_measured():
    evidence = some_evidence(9, failed=2)
    belief, _ = fit(evidence)
    assert belief.scale.measured(np.array([belief.best]))[0] == pytest.approx(evidence.y.min())


@pytest.mark.parametrize("evidence", [some_evidence(9), some_evidence(12, failed=4), some_evidence(8, seed=5)])
def test_predictions_are_noted_in_the_users_units(evidence):
    belief, memory = fit(evidence)
    foreign = foreign_gp(evidence, memory)
    for x in np.random.default_rng(2).random((5, 2)):
        note = belief.note(x)
        mean, std = foreign.predict(x[None])
        assert note["mean"] == pytest.approx(mean[0], rel=1e-6)
        assert note["std"] == pytest.approx(std[0], rel=1e-4)
        assert note["lengthscale"] == pytest.approx(np.exp(memory["phi"][:1]))
        assert "fit" not in note


def test_what_was_out_of_the_ordinary_is_noted():
    evidence = some_evidence(5)
    constant = replace(evidence, y=np.full(5, 0.1))
    belief, memory = fit(constant)
    for told in (belief, SURROGATE.fit(constant, memory, np.random.default_rng(9))[0]):  # fitted, and fitted before
        note = told.note(evidence.X[0])
        assert note["fit"] == ["5 equal outputs teach nothing: hyper-parameters left at their defaults"]
        assert note["mean"] == 0.1


def test_the_model_is_given_the_number_of_coordinates():
    widths = []
    surrogate = replace(SURROGATE, model=lambda d: widths.append(d) or PAPER.surrogate.model(d))
    surrogate.fit(some_evidence(cube=Cube((Continuous(), OneHot(3)))), {}, np.random.default_rng(0))
    assert widths == [4]


# Memory


def test_the_same_evidence_is_not_fitted_again_and_gives_the_same_belief(fits):
    evidence = some_evidence(9, failed=2)
    first, memory = fit(evidence, {"of": "the strategy"})
    assert memory["seen"] == [9, 2]
    assert memory["of"] == "the strategy"
    again, same_memory = fit(replace(evidence, pending=np.full((5, 2), 0.3)), memory, seed=99)
    assert len(fits) == 1
    assert same_memory == memory
    Z = np.random.default_rng(1).random((20, 2))
    np.testing.assert_array_equal(again.gp.predict(Z), first.gp.predict(Z))
    assert (again.scale, again.best) == (first.scale, first.best)


@pytest.mark.parametrize("more", [some_evidence(10, failed=2), some_evidence(9, failed=3)])
def test_more_evidence_is_fitted_from_where_the_last_fit_ended(fits, more):
    _, memory = fit(some_evidence(9, failed=2))
    _, after = fit(more, memory)
    assert fits[0] is None
    assert fits[1].tolist() == memory["phi"]
    assert after["seen"] == [len(more.X), len(more.failed)]
    assert len(fits) == 2


@pytest.mark.parametrize("strategy", ["aegis", "thompson", "ei", "local-penalization"])
def test_asks_without_news_share_one_fit(fits, strategy):
    optimizer = Optimizer(BOX, strategy=strategy, preset="paper", seed=0)
    for _ in range(4):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.x.sum()))
    for _ in range(3):
        optimizer.ask()
    assert len(fits) == 1
    assert optimizer.memory["seen"] == [4, 0]
    optimizer.tell(5, 1.0)
    optimizer.ask(), optimizer.ask()
    assert len(fits) == 2
    optimizer.fail(6, "diverged")
    optimizer.ask()
    assert len(fits) == 3
    assert optimizer.memory["seen"] == [5, 1]
    optimizer.expire(4)
    optimizer.ask()
    assert len(fits) == 3
