"""The modern preset: what its surrogate learns and when, and what AEGiS does where the mean promises nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contracts.strategy_contract import StrategyContract

from aegisbo import Optimizer
from aegisbo.gp import additive_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies import surrogates
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.presets import MODERN
from aegisbo.strategies.registry import resolve
from aegisbo.strategies.surrogates import GROWTH

BOX = [(-5, 10), (2, 3)]


class TestContract(StrategyContract):
    @pytest.fixture(params=["aegis"])
    def strategy(self, request):
        return resolve(request.param, "modern")


def evidence_of(n: int, failed: int = 0, outlier: float = 0.0) -> Evidence:
    points = np.random.default_rng(3).random((n + failed, 2))
    y = -2000.0 + 30.0 * np.sin(5 * points[:n]).sum(axis=1)
    y[0] += outlier
    return Evidence(points[:n], y, points[n:], np.empty((0, 2)), Cube((Continuous(), Continuous())))


def learn(evidence, memory=None):
    return MODERN.surrogate.fit(evidence, memory or {}, np.random.default_rng(0))


@pytest.fixture
def fits(monkeypatch):
    """How many data each fit was made with."""
    calls, real = [], additive_fit.fit

    def spy(X, y, *rest, **options):
        calls.append(len(y))
        return real(X, y, *rest, **options)

    monkeypatch.setattr(additive_fit, "fit", spy)
    return calls


@pytest.mark.long
def test_hyper_parameters_are_learned_anew_as_the_data_grow_by_a_twentieth(fits):
    memory = {}
    for n in range(10, 90):
        _, memory = learn(evidence_of(n), memory)
    expected = [10]
    for n in range(11, 90):
        if n >= GROWTH * expected[-1]:
            expected.append(n)
    assert fits == expected
    assert max(np.diff(fits)) == 5  # at ninety: every fifth result


def test_between_two_fits_the_belief_has_all_data():
    _, memory = learn(evidence_of(60))
    belief, after = learn(evidence_of(62), memory)
    assert after == memory
    assert len(belief.gp.X) == 62
    np.testing.assert_allclose(belief.gp.kernel.lengthscale, np.exp(memory["phi"][:2]))


def test_many_data_are_thinned_for_learning_only(fits, monkeypatch):
    monkeypatch.setattr(surrogates, "LEARNED_FROM", 20)
    belief, memory = learn(evidence_of(50))
    assert fits == [20]
    assert memory["learned_at"] == len(belief.gp.X) == 50
    again, _ = learn(evidence_of(50), memory)
    np.testing.assert_array_equal(again.gp.alpha, belief.gp.alpha)


@pytest.mark.parametrize("failed", [0, 3])
def test_of_many_data_only_the_new_ones_are_factored(fits, monkeypatch, failed):
    """The belief is the one of all data at once, to the digits that a factor keeps."""
    monkeypatch.setattr(surrogates, "LEARNED_FROM", 20)
    _, memory = learn(evidence_of(60, failed=failed))
    belief, after = learn(evidence_of(62, failed=failed), memory)
    assert (fits, after) == ([20], memory)
    prior = AdditiveHyperparameters(tuple(memory["phi"]), memory["s"], memory["constant"])
    whole = prior.given(belief.gp.X, belief.gp.y + belief.gp.constant)
    Z = np.random.default_rng(3).random((50, 2))
    np.testing.assert_allclose(belief.gp.predict(Z), whole.predict(Z), atol=1e-7)
    assert len(belief.gp.factor.base.L) == memory["learned_at"]  # the rest was put to it


def test_what_was_asked_before_changes_no_digit(monkeypatch):
    monkeypatch.setattr(surrogates, "LEARNED_FROM", 20)
    _, memory = learn(evidence_of(60))
    for n in (61, 62):
        belief, _ = learn(evidence_of(n), memory)
    surrogates._base.cache_clear()  # as in a run that is continued
    again, _ = learn(evidence_of(62), memory)
    Z = np.random.default_rng(3).random((50, 2))
    np.testing.assert_array_equal(again.gp.predict(Z), belief.gp.predict(Z))


def test_predictions_are_noted_in_the_users_units():
    evidence = evidence_of(30, outlier=1e6)
    belief, _ = learn(evidence)
    scale = soft_scale_of(evidence.y)
    for x in np.random.default_rng(2).random((5, 2)):
        mu, var = belief.gp.predict(x[None])
        note = belief.note(x)
        assert note["mean"] == pytest.approx(scale.measured(mu)[0])
        low, high = scale.measured(mu[0] + np.sqrt(var[0]) * np.array([-1, 1]))
        assert note["std"] == pytest.approx((high - low) / 2)
    at_data = [belief.note(x)["mean"] for x in evidence.X[1:]]
    np.testing.assert_allclose(at_data, evidence.y[1:], atol=0.5)  # of sixty: a million beside them does no harm


def test_failures_are_no_values():
    belief, _ = learn(evidence_of(12, failed=3))
    others, _ = learn(evidence_of(12))
    Z = np.random.default_rng(3).random((50, 2))
    np.testing.assert_array_equal(belief.gp.predict(Z), others.gp.predict(Z))


@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_half_of_the_papers_exploration(d):
    assert resolve("aegis", "modern").exploration(d) == pytest.approx(1 / np.sqrt(d))
    assert resolve("aegis", "paper").exploration(d) == pytest.approx(min(2 / np.sqrt(d), 1))
    assert resolve("aegis:epsilon=0.25", "modern").exploration(d) == 0.25


def test_where_the_mean_promises_nothing_improvement_is_sought_instead():
    """A parabola is known after a few points: its minimum is then exploited once or twice, and no more."""
    optimizer = Optimizer(BOX, strategy="aegis:epsilon=0", preset="modern", seed=0)
    for _ in range(30):
        trial = optimizer.ask()
        optimizer.tell(trial.number, float((trial.x[0] - 3) ** 2 + 4 * (trial.x[1] - 2.4) ** 2))
    moves = [trial.note["move"] for trial in optimizer.trials][4:]
    assert moves[0] == "exploit"
    assert set(moves) == {"exploit", "improve"}
    spread = np.array([trial.x for trial in optimizer.trials])[[i for i, m in enumerate(moves, 4) if m == "improve"]]
    assert np.ptp(spread[:, 0]) > 1.0  # elsewhere, not at the minimum again
    assert optimizer.best.value < 1e-4


@pytest.mark.parametrize(("promise", "in_all", "beside_stopped"), [(1e-4, 1, 1), (0.03, 0, 1), (0.3, 0, 0)])
def test_where_evaluations_are_stopped_the_last_digits_are_not_exploited(promise, in_all, beside_stopped):
    """Of the points that lie lower than the best by that many standard deviations, as the model sees them."""
    X, none, rng = np.random.default_rng(3).random((12, 2)), np.empty((0, 2)), np.random.default_rng(0)
    evidence = Evidence(X, ((X - 0.4) ** 2).sum(axis=1), none, none, Cube((Continuous(), Continuous())))
    belief, memory = MODERN.surrogate.fit(evidence, {}, rng)
    way = X[evidence.y.argmin()] + np.linspace(0.0, 1.0, 5000)[:, None] * (0.4 - X[evidence.y.argmin()])
    there = way[np.abs(belief.best - belief.gp.mean(way) - promise).argmin()]
    exploit = Decision("exploit", there[None], belief)
    for stopped, improves in ((None, in_all), (none, beside_stopped)):
        turn = Turn(belief, replace(evidence, stopped=stopped), MODERN.search, rng, dict(memory))
        decision = MODERN.second_thoughts[0].instead(turn, exploit)
        assert (decision is not None) == bool(improves)


def test_the_paper_exploits_whatever_the_mean_promises():
    optimizer = Optimizer(BOX, strategy="aegis:epsilon=0", preset="paper", seed=0)
    for _ in range(16):
        trial = optimizer.ask()
        optimizer.tell(trial.number, float((trial.x[0] - 3) ** 2 + 4 * (trial.x[1] - 2.4) ** 2))
    assert {trial.note["move"] for trial in optimizer.trials[4:]} == {"exploit"}
