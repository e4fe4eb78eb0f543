"""The adaptive preset: which model the data choose, what explores, and when AEGiS looks near the best point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contracts.strategy_contract import StrategyContract
from moving import KINDS
from scipy.stats import norm

from aegisbo import Int, Optimizer
from aegisbo.gp import additive_fit, quadratic_model
from aegisbo.gp.additive_model import AdditiveHyperparameters
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.gp.rank_scale import rank_scale_of
from aegisbo.runners.loop import run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import law_from_text
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.local_model import local_model
from aegisbo.strategies.moves import thompson
from aegisbo.strategies.moves.local import preference
from aegisbo.strategies.moves.valley import early_unit
from aegisbo.strategies.presets import ADAPTIVE, MODERN
from aegisbo.strategies.registry import resolve
from aegisbo.study import Study


@pytest.mark.long
class TestContract(StrategyContract):
    @pytest.fixture(params=["aegis"])
    def strategy(self, request):
        return resolve(request.param, "adaptive")


def wavy(n: int) -> Evidence:
    X = np.random.default_rng(3).random((n, 2))
    return evidence_of(X, -2000.0 + 30.0 * np.sin(5 * X).sum(axis=1))


def gathered(n: int) -> Evidence:
    """The first points anywhere, the others ever closer to the minimum."""
    rng = np.random.default_rng(1)
    steps = np.append(np.ones(10), np.logspace(0, -6, n - 10))
    X = np.clip(0.4 + 0.4 * steps[:, None] * rng.standard_normal((n, 2)), 0, 1)
    return evidence_of(X, ((X - 0.4) ** 2).sum(axis=1) + (X[:, 0] - 0.4) ** 3)


def evidence_of(X, y) -> Evidence:
    return Evidence(X, y, np.empty((0, 2)), np.empty((0, 2)), Cube((Continuous(), Continuous())))


def learn(evidence, memory=None):
    return ADAPTIVE.surrogate.fit(evidence, memory or {}, np.random.default_rng(0))


@pytest.mark.long
@pytest.mark.parametrize("penalty", [1e30, 1.7e308])
def test_penalties_among_the_first_values_do_not_make_it_content(penalty):
    optimizer = Optimizer([(0, 1), (0, 1)], seed=2)
    for _ in range(45):
        trial = optimizer.ask()
        a, b = trial.x
        optimizer.tell(trial, penalty if a + b > 0.8 else (a - 0.3) ** 2 + 2 * (b - 0.25) ** 2)
    assert sum(trial.value == penalty for trial in optimizer.trials[:4]) >= 2
    assert optimizer.best.value < 1e-12, "0.004 when penalties counted among the first values"


def test_uncertain_values_are_not_looked_at_as_measured():
    """One value that is much lower, and that hardly anybody believes: no move stays there."""
    optimizer = Optimizer([(0, 1), (0, 1)], seed=0, noisy=True, n_initial=0)
    rng = np.random.default_rng(0)
    for a, b in 0.2 + 0.5 * rng.random((15, 2)):
        optimizer.observe([a, b], (a - 0.4) ** 2 + (b - 0.4) ** 2, sd=1e-3)
    optimizer.observe([0.95, 0.95], -3.0, sd=3.0)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, (trial.x[0] - 0.4) ** 2 + (trial.x[1] - 0.4) ** 2, sd=1e-3)
        assert trial.note["move"] != "local"
    near = [np.abs(trial.x - 0.95).max() < 0.2 for trial in optimizer.trials]
    assert sum(near) <= 3


@pytest.mark.long
def test_where_time_is_the_price_nobody_goes_elsewhere_without_a_look_at_it():
    def moves_with(cost):
        optimizer = Optimizer([(0, 1), (0, 1)], seed=1, cost=cost)
        for _ in range(30):
            trial = optimizer.ask()
            value = ((trial.x - 0.4) ** 2).sum()
            optimizer.tell(trial, value, seconds=float(np.exp(6 * trial.x[0])))
        return {trial.note["move"] for trial in optimizer.trials}

    assert "elsewhere" in moves_with(None)
    assert "elsewhere" not in moves_with("time")


@pytest.mark.long
def test_thompson_draws_from_the_model_that_it_tells_of(monkeypatch):
    drawn, real = [], thompson.posterior_path
    monkeypatch.setattr(thompson, "posterior_path", lambda gp, *rest: drawn.append(gp) or real(gp, *rest))
    evidence, strategy = gathered(40), resolve("thompson", "adaptive")
    belief, memory = learn(evidence)
    suggestion = strategy.suggest(evidence, memory, np.random.default_rng(0))
    assert suggestion.note["model"] == belief.exploring.model != belief.model
    np.testing.assert_array_equal(drawn[0].kernel.lengthscale, belief.exploring.gp.kernel.lengthscale)


@pytest.mark.long
def test_which_model_exploits_does_not_depend_on_units_in_many_dimensions():
    rng = np.random.default_rng(0)
    X = rng.random((200, 18))
    y = ((X - 0.5) ** 2).sum(axis=1) + 0.1 * np.sin(9 * X).sum(axis=1)
    differences = []
    for unit in (1.0, 2.0**-20, 2.0**30):
        evidence = replace(evidence_of(X, unit * y), cube=Cube((Continuous(),) * 18))
        scale = soft_scale_of(evidence.y)
        plain = quadratic_model.fit(X - 0.5, scale.standardized(evidence.y), None)
        other = Belief(plain, scale, 0.0, ())
        differences.append(local_model(evidence).skill(evidence.y) - other.skill(evidence.y))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-6)


@pytest.mark.parametrize("make", [wavy, gathered])
def test_the_model_is_used_that_predicts_the_lowest_values_best(make):
    """Each of the lowest is predicted from all others, and its density is the one in the units of the values."""
    evidence = make(60)
    belief, memory = learn(evidence)
    low = np.argsort(evidence.y)[:5]  # 3/4 of the six coefficients of a quadratic
    densities = {}
    for name, share in (("half", 0.5), ("quarter", 0.25)):
        learned = memory["models"][name]
        prior = AdditiveHyperparameters(tuple(learned["phi"]), learned["s"], learned["constant"])
        scale = soft_scale_of(evidence.y, share)
        densities[name] = 0.0
        for i in low:
            others = np.arange(60) != i
            gp = prior.given(evidence.X[others], scale.standardized(evidence.y[others]))
            mean, variance = gp.predict(evidence.X[[i]])
            h = 1e-6 * np.ptp(evidence.y[low])
            slope = np.diff(scale.standardized(evidence.y[i] + np.array([-h, h])))[0] / (2 * h)
            error = scale.standardized(evidence.y[[i]]) - mean
            densities[name] += norm.logpdf(error, scale=np.sqrt(variance + gp.noise))[0] + np.log(slope)
    assert memory["used"] == belief.model == max(densities, key=densities.get)
    assert belief.note(evidence.X[0])["model"] == memory["used"]


def normal(y, rng):
    return y + 0.05 * rng.normal(size=len(y))


def outliers(y, rng):
    """One value in five is too high or too low, some of them by far."""
    return y + (rng.random(len(y)) < 0.2) * 10.0 * rng.standard_cauchy(len(y))


@pytest.mark.parametrize(("noise", "model"), [(normal, "half"), (outliers, "ranks")])
def test_where_values_are_noisy_ranks_are_used_if_they_predict_all_of_them_clearly_better(noise, model):
    """Each value is predicted from all others, and its density is the one in the units of the values."""
    rng = np.random.default_rng(5)
    X = rng.random((60, 2))
    y = noise(((X - 0.4) ** 2).sum(axis=1), rng)
    belief, memory = learn(replace(evidence_of(X, y), noisy=True))
    densities = {}
    for name, scale in {"half": soft_scale_of(y), "ranks": rank_scale_of(y)}.items():
        learned, z = memory["models"][name], scale.standardized(y)
        prior = AdditiveHyperparameters(tuple(learned["phi"]), learned["s"], learned["constant"])
        densities[name] = scale.log_slope(y).sum()
        for i in range(60):
            others = np.arange(60) != i
            gp = prior.given(X[others], z[others])
            mean, variance = gp.predict(X[[i]])
            densities[name] += norm.logpdf(z[i], mean[0], np.sqrt(variance[0] + gp.noise))
    assert (densities["ranks"] - densities["half"] > 30) == (model == "ranks"), "half a nat for each value"
    assert memory["used"] == belief.model == model
    assert belief.exploring.model == ("ranks" if model == "ranks" else "wide")


def test_ranks_are_not_even_learned_where_values_are_exact():
    _, memory = learn(wavy(30))
    assert memory["models"].keys() == {"half", "quarter", "wide"}


def test_a_noisy_run_that_an_older_version_has_begun_learns_ranks_too():
    evidence = replace(gathered(40), noisy=True)
    _, before = learn(replace(evidence, noisy=False))
    _, memory = learn(evidence, before)
    assert memory["models"].keys() == {"half", "quarter", "wide", "ranks"}


def test_between_two_learnings_nothing_is_chosen_anew():
    _, memory = learn(wavy(60))
    belief, after = learn(wavy(62), memory)
    assert after == memory
    assert len(belief.gp.X) == len(belief.exploring.gp.X) == 62
    assert learn(wavy(63), memory)[1]["learned_at"] == 63


def test_exploring_looks_at_values_on_a_scale_that_does_not_shrink():
    evidence = gathered(80)
    belief, _ = learn(evidence)
    scale, early = belief.exploring.scale, evidence.y[:4]
    assert scale.low_unit > 100 * belief.scale.low_unit
    assert scale.unit * scale.size == pytest.approx(0.3 * (np.median(early) - early.min()))
    assert early_unit(evidence) == pytest.approx(np.median(early) - early.min())
    of_modern, _ = MODERN.surrogate.fit(evidence, {}, np.random.default_rng(0))
    assert of_modern.exploring is of_modern


@pytest.mark.parametrize(("gamma", "move"), [(1, "thompson"), (0, "pareto")])
def test_moves_that_explore_use_the_model_on_that_scale(monkeypatch, gamma, move):
    evidence, asked, real = gathered(80), [], KINDS[move].choose

    def spy(self, turn):
        decision = real(self, turn)
        asked.append(decision.belief.gp.kernel.lengthscale)
        return decision

    monkeypatch.setattr(KINDS[move], "choose", spy)
    strategy = resolve(f"aegis:epsilon=1,gamma={gamma}", "adaptive")
    told = strategy.suggest(evidence, {"opened_at": 4}, np.random.default_rng(0))
    assert told.note["move"] == move
    (lengthscale,) = asked
    np.testing.assert_allclose(lengthscale, np.exp(told.memory["models"]["wide"]["phi"][:2]))
    assert (told.note["model"], told.note["lengthscale"]) == ("wide", lengthscale.tolist())


@pytest.mark.parametrize("gamma", [0, 1])
def test_the_note_of_a_move_that_explores_tells_the_chances_to_succeed_and_to_keep_limits(gamma):
    """They are the same for both models, and two numbers."""
    evidence = gathered(40)
    evidence = replace(
        evidence, failed=np.array([[0.9, 0.9], [0.95, 0.8], [0.8, 0.95]]), excess=evidence.X[:, :1] - 0.7
    )
    strategy = resolve(f"aegis:epsilon=1,gamma={gamma}", "adaptive")
    told = strategy.suggest(evidence, {"opened_at": 4}, np.random.default_rng(0))
    belief = strategy.believe(evidence, told.memory, np.random.default_rng(0))
    assert told.note["model"] == "wide"
    for name, chance in {"success": belief.success, "feasible": belief.keeping}.items():
        assert told.note.get(name) == (
            None if chance is None else pytest.approx(np.exp(chance.log_value(told.x[None])[0]))
        )
    assert "feasible" in told.note


def test_the_model_that_was_used_is_the_one_that_learns_from_new_starts(monkeypatch):
    """The others begin where it ended, unless their own last state is better."""
    _, memory = learn(wavy(40))
    memory = {**memory, "used": "quarter"}
    given, real = [], additive_fit.fit

    def spy(X, y, model, rng, warm, rival=None, **noise):
        found = real(X, y, model, rng, warm, rival=rival, **noise)
        given.append((None if rival is None else tuple(rival), found.hyperparameters.phi))
        return found

    monkeypatch.setattr(additive_fit, "fit", spy)
    learn(wavy(60), memory)
    (first, learned), *others = given
    assert first is None
    assert [rival for rival, _ in others] == [learned, learned]


@pytest.mark.parametrize(("n", "near"), [(5, False), (6, True)])
def test_a_local_model_needs_a_value_for_each_coefficient_of_a_quadratic(n, near):
    strategy = resolve("aegis:epsilon=0", "adaptive")
    told = strategy.suggest(wavy(n), {"opened_at": 4}, np.random.default_rng(0))
    assert ("near" in told.memory) is near


@pytest.mark.parametrize(("gap", "expected"), [(0.0, 0.5), (-5.0, 1 / (1 + np.e)), (1e4, 0.6), (-1e4, 0.1)])
def test_a_model_is_preferred_by_what_it_predicts_but_never_trusted_alone(gap, expected):
    assert preference(gap - 300.0, -300.0) == pytest.approx(expected)


def turned_bowl(seed):
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    center = rng.uniform(-4, 4, 4)
    return lambda x: float(((x - center) @ turn) ** 2 @ 10 ** np.linspace(0, 4, 4))


@pytest.mark.long
def test_eight_workers_find_the_bottom_of_a_turned_bowl():
    optimizer = Optimizer([(-5, 5)] * 4, preset="adaptive", seed=0)
    run(Study(optimizer), VirtualWorkers(turned_bowl(0), 8, law_from_text("half-normal"), 0), 90)
    assert optimizer.result().fun < 1e-4  # where it started at about 1e4
    assert any(trial.note["move"] == "local" for trial in optimizer.trials)


def test_only_continuous_spaces_have_a_local_model():
    optimizer = Optimizer([(-5.0, 5.0), Int(0, 5)], strategy="aegis:epsilon=0", preset="adaptive", seed=0)
    for _ in range(14):
        trial = optimizer.ask()
        optimizer.tell(trial.number, float(trial.x[0] ** 2 + trial.x[1]))
    assert "local" not in {trial.note["move"] for trial in optimizer.trials}
