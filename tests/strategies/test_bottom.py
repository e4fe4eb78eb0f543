"""The move that draws the bottom of a bowl: when it applies, what it draws, and what it brings to a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aegisbo import Optimizer, Space
from aegisbo.gp.bowl import Bowl, bowl_of
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.chance import NearFailures
from aegisbo.strategies.local_model import neighborhood_of
from aegisbo.strategies.moves import bottom
from aegisbo.strategies.moves.bottom import Bottom
from aegisbo.strategies.moves.move import Turn
from aegisbo.strategies.presets import ADAPTIVE

CUBE = Space([(0, 1)] * 3).cube
NONE = np.empty((0, 3))
CENTER = np.array([0.3, 0.6, 0.5])


def evidence_of(noise: str, n: int = 80, seed: int = 0) -> Evidence:
    """A sphere with noise that multiplies its height, or that is the same everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    height = 100.0 * ((X - CENTER) ** 2).sum(axis=1)
    y = height * np.exp(rng.normal(size=n)) if noise == "growing" else height + 5.0 * rng.normal(size=n)
    return Evidence(X, y + 20.0, NONE, NONE, CUBE, noisy=True)


def turn_of(evidence: Evidence, **weighed: object) -> Turn:
    belief, _ = ADAPTIVE.surrogate.fit(evidence, {}, np.random.default_rng(0))
    return Turn(replace(belief, **weighed), evidence, ADAPTIVE.search, np.random.default_rng(0), {})


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(bottom, "OFTEN", 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_it_applies_where_noise_grows_with_the_value_and_not_where_it_is_constant(always, seed):
    assert Bottom().choose(turn_of(evidence_of("growing", seed=seed))) is not None
    assert Bottom().choose(turn_of(evidence_of("constant", seed=seed))) is None


def test_it_leaves_one_turn_in_ten_to_others():
    turn = turn_of(evidence_of("growing"))
    chosen = [Bottom().choose(replace(turn, rng=np.random.default_rng(seed))) is not None for seed in range(100)]
    assert 0.8 < np.mean(chosen) < 0.98


def penalized(evidence: Evidence) -> Evidence:
    return replace(evidence, y=np.where(np.arange(len(evidence.y)) % 9 < 4, 1e30, evidence.y))


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda evidence: replace(evidence, noisy=False),
        lambda evidence: replace(evidence, sd=np.ones(len(evidence.y))),
        lambda evidence: replace(evidence, excess=np.zeros((len(evidence.y), 1))),
        lambda evidence: replace(evidence, X=evidence.X[:9], y=evidence.y[:9]),
        penalized,
    ],
    ids=["exact", "known noise", "limits", "few results", "penalties"],
)
def test_it_does_not_apply_to(always, spoiled):
    assert Bottom().choose(turn_of(spoiled(evidence_of("growing")))) is None


def test_it_draws_what_is_known_of_the_bottom(always):
    """Mean and covariance of many draws are those of the bowl, where it is well known and no draw is out of reach."""
    evidence = evidence_of("growing", 150)
    turn = turn_of(evidence)
    neighborhood = neighborhood_of(evidence.X[np.argsort(turn.belief.gp.mean(evidence.X), kind="stable")])
    bowl = bowl_of(neighborhood.local(evidence.X), evidence.y)
    drawn = np.vstack([Bottom().choose(replace(turn, rng=np.random.default_rng(seed))).choices for seed in range(40)])
    center = neighborhood.center + neighborhood.axes @ bowl.bottom
    covariance = neighborhood.axes @ bowl.covariance @ neighborhood.axes.T
    np.testing.assert_allclose(drawn.mean(axis=0), center, atol=4.0 * np.sqrt(np.diag(covariance) / 800).max())
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.1 * np.diag(covariance).max())
    assert np.linalg.norm(center - CENTER) < 0.05


def test_draws_stay_within_reach_and_in_the_cube(always, monkeypatch):
    """Also of a bottom of which hardly anything is known."""
    monkeypatch.setattr(bottom, "bowl_of", lambda U, y: Bowl(np.zeros(3), 9.0 * np.eye(3), np.inf))
    evidence = evidence_of("growing")
    evidence = replace(evidence, X=0.7 + 0.3 * evidence.X)
    turn = turn_of(evidence)
    neighborhood = neighborhood_of(evidence.X[np.argsort(turn.belief.gp.mean(evidence.X), kind="stable")])
    drawn = np.vstack([Bottom().choose(replace(turn, rng=np.random.default_rng(seed))).choices for seed in range(30)])
    assert ((drawn >= 0.0) & (drawn <= 1.0)).all()
    away = np.sqrt((neighborhood.local(drawn) ** 2).mean(axis=1))
    inside = ((drawn > 0.0) & (drawn < 1.0)).all(axis=1)
    assert 0.99 < away[inside].max() < 1.0 + 1e-9
    assert not inside.all()


def test_draws_where_an_evaluation_may_fail_come_last(always):
    """The first choice is drawn in proportion to the chance: hardly ever nearer to the failure than most."""
    failed = NearFailures(CENTER[None, :])
    turn, nearness = turn_of(evidence_of("growing"), success=failed), []
    for seed in range(60):
        choices = Bottom().choose(replace(turn, rng=np.random.default_rng(seed))).choices
        nearness.append((failed.log_value(choices) <= failed.log_value(choices[:1])).mean())
    assert np.mean(nearness) > 0.6  # 0.53 without order


@pytest.mark.long
def test_runs_end_nearer_to_the_minimum(monkeypatch):
    """Six runs of a turned bowl of condition 100 in four parameters, with and without the move."""
    axes = np.linalg.qr(np.random.default_rng(9).normal(size=(4, 4)))[0] * [1.0, 2.0, 5.0, 10.0]

    def regret(seed: int) -> float:
        rng = np.random.default_rng(seed)
        center, optimizer = rng.uniform(0.2, 0.8, 4), Optimizer([(0, 1)] * 4, seed=seed, noisy=True)
        true = lambda x: float((((np.asarray(x) - center) @ axes) ** 2).sum())  # noqa: E731
        for _ in range(80):
            trial = optimizer.ask()
            optimizer.tell(trial, true(trial.x) * np.exp(rng.normal()))
        return true(optimizer.result().x)

    with_it = np.log([regret(seed) for seed in range(6)])
    monkeypatch.setattr(Bottom, "choose", lambda self, turn: None)
    without = np.log([regret(seed) for seed in range(6)])
    assert (with_it - without).mean() < -0.5
