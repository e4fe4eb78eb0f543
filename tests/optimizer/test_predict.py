"""The model's view of the user's own points: against formulas, against many draws, and without a trace in the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, NoModel, TrialError
from aegisbo.gp.output_transform import SoftScale
from aegisbo.optimizer import Trial
from aegisbo.optimizer.explanation import Explanation
from aegisbo.optimizer.prediction import Prediction
from aegisbo.space import Choice, Int, Real
from aegisbo.strategies import Aegis

BOX = [(-5, 10), (2, 3)]
MIXED = {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512, log=True), "act": Choice(["relu", "tanh"])}
QUANTITIES = ("mean", "std", "low", "high", "chance", "success")


def bowl(x: Any) -> float:
    return float((x[0] - 3.0) ** 2 + 40.0 * (x[1] - 2.2) ** 2 - 7.0)


def loss(lr: float, units: int, act: str) -> float:
    return abs(math.log10(lr) + 3) + abs(math.log2(units / 100)) + (act == "tanh")


def driven(count: int, fun: Callable[[Trial], float] = lambda trial: bowl(trial.x), **options: Any) -> Optimizer:
    """An optimizer after so many evaluations, and with one more trial pending."""
    optimizer = Optimizer(**{"space": BOX, "seed": 3, **options})
    for _ in range(count):
        trial = optimizer.ask()
        optimizer.tell(trial, fun(trial))
    optimizer.ask()
    return optimizer


def matern(A: np.ndarray, B: np.ndarray, lengthscale: float) -> np.ndarray:
    c = math.sqrt(5.0) * np.linalg.norm(A[:, None] - B, axis=2) / lengthscale
    return (1.0 + c + c**2 / 3.0) * np.exp(-c)


POINTS = np.array([[-4.0, 2.9], [3.3, 2.25], [9.0, 2.0]])


@pytest.mark.parametrize("maximize", [False, True])
def test_where_the_scale_is_straight_it_is_the_textbooks_prediction(maximize: bool) -> None:
    sign = -1.0 if maximize else 1.0
    optimizer = driven(12, lambda trial: sign * bowl(trial.x), preset="paper", maximize=maximize)
    unit = (np.array([trial.x for trial in optimizer.trials[:12]]) - [-5, 2]) / [15, 1]
    values = np.array([trial.value for trial in optimizer.trials[:12]])
    center, spread = values.mean(), values.std(ddof=1)
    lengthscale, s = np.exp(optimizer.memory["phi"])
    K = s * matern(unit, unit, lengthscale) + 1e-4 * np.eye(12)
    k = s * matern((POINTS - [-5, 2]) / [15, 1], unit, lengthscale)
    mean = center + spread * (k @ np.linalg.solve(K, (values - center) / spread))
    std = spread * np.sqrt(s - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T)))
    found = optimizer.predict(POINTS)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(found.std, std, rtol=1e-3)
    np.testing.assert_allclose(found.low, mean - 1.959964 * std, rtol=1e-3)
    np.testing.assert_allclose(found.high, mean + 1.959964 * std, rtol=1e-3)
    best = values.max() if maximize else values.min()
    np.testing.assert_allclose(found.chance, ndtr(sign * (best - mean) / std), rtol=1e-2, atol=1e-12)


@pytest.mark.parametrize("maximize", [False, True])
def test_where_the_scale_is_bent_it_describes_the_draws_that_come_back_through_it(maximize: bool) -> None:
    sign = -1.0 if maximize else 1.0
    optimizer = driven(9, lambda trial: sign * math.exp(bowl(trial.x) / 20.0), maximize=maximize)
    belief = optimizer.model().belief.exploring
    assert isinstance(belief.scale, SoftScale)
    law, rng = belief.law((POINTS - [-5, 2]) / [15, 1]), np.random.default_rng(0)
    draws = np.empty((400_000, 3))  # in the user's units
    for m in range(3):
        counts = rng.multinomial(len(draws), law.weight[:, m])
        each = zip(law.scales, law.mean[:, m], law.sd[:, m], counts, strict=True)
        z = [scale.measured(mu + sd * rng.standard_normal(count)) for scale, mu, sd, count in each]
        draws[:, m] = sign * np.minimum(np.concatenate(z), law.ceiling)
    low, less, middle, more, high = np.quantile(draws, [0.025, ndtr(-1.0), 0.5, ndtr(1.0), 0.975], axis=0)
    best = (max if maximize else min)(trial.value for trial in optimizer.trials[:9])
    found = optimizer.predict(POINTS)
    assert not np.allclose(high - middle, middle - low, rtol=0.05)  # lopsided: mean ± 1.96 std would be wrong
    for name, expected in {"mean": middle, "std": (more - less) / 2, "low": low, "high": high}.items():
        np.testing.assert_allclose(getattr(found, name), expected, rtol=0.02, atol=0.01, err_msg=name)
    np.testing.assert_allclose(found.chance, (sign * draws < sign * best).mean(axis=0), atol=0.004)


@pytest.mark.parametrize("seed", [0, 3])
def test_it_knows_what_lies_far_from_where_values_have_gathered(seed: int) -> None:
    """Though a model that exploits knows of little but the lowest ones; the witness is the function."""
    rng = np.random.default_rng(seed)
    low, size, bottom = np.array([-5.0, 2.0]), np.array([15.0, 1.0]), [3.0, 2.2]
    far, gathered = rng.random((10, 2)), np.exp(-8.0 * rng.random((25, 1))) * rng.standard_normal((25, 2))
    optimizer = Optimizer(BOX, seed=3, n_initial=0)
    for x in (*(low + size * far), *np.clip(bottom + 0.1 * size * gathered, low, low + size)):
        optimizer.observe(x, bowl(x))
    points = low + size * rng.random((200, 2))
    true, found = np.array([bowl(x) for x in points]), optimizer.predict(points)
    assert np.mean((found.low <= true) & (true <= found.high)) > 0.9
    assert np.median(found.high - found.low) < 2.0 * np.ptp(true)
    assert np.median(found.upper - found.lower) < 0.2 * np.ptp(true)
    assert np.median(np.abs(found.mean - true)) < 0.05 * np.ptp(true)


def test_maximizing_is_minimizing_upside_down() -> None:
    down = driven(10).predict(POINTS)
    up = driven(10, lambda trial: -bowl(trial.x), maximize=True).predict(POINTS)
    for mine, other in {"mean": "mean", "low": "high", "high": "low"}.items():
        np.testing.assert_array_equal(getattr(up, mine), -getattr(down, other))
    np.testing.assert_array_equal([up.std, up.chance], [down.std, down.chance])


def test_at_a_trial_that_was_just_asked_for_its_note_says_what_the_model_that_chose_it_predicts() -> None:
    optimizer = driven(8, strategy="thompson")
    trial, model = optimizer.trials[-1], optimizer.model()
    assert trial.note["model"] == "wide"  # what exploits may have another model
    found = replace(model, belief=model.belief.exploring.alone).predict(trial)
    assert (found.mean, found.std) == pytest.approx((trial.note["mean"], trial.note["std"]), rel=1e-6)


def test_with_noise_the_best_is_the_lowest_posterior_mean() -> None:
    rng = np.random.default_rng(5)
    optimizer = driven(15, lambda trial: bowl(trial.x) + 5.0 * rng.standard_normal(), noisy=True)
    result, model = optimizer.result(), optimizer.model()
    law = model.belief.exploring.law((POINTS - [-5, 2]) / [15, 1])
    level = np.array([optimizer.predict(result.x).mean])
    z = np.array([scale.standardized(level) - mu for scale, mu in zip(law.scales, law.mean, strict=True)]) / law.sd
    np.testing.assert_allclose(optimizer.predict(POINTS).chance, (law.weight * ndtr(z)).sum(axis=0), rtol=1e-6)
    assert result.fun != result.best.value
    assert model.best == result.best == optimizer.explain([0, 2.5]).best


class TestTheRunGoesOnAsIfNobodyHadAsked:
    @pytest.mark.long
    def test_the_same_choices_follow(self) -> None:
        optimizers = [Optimizer(MIXED, seed=7) for _ in range(2)]
        for optimizer in optimizers:
            for k in range(12):
                trial = optimizer.ask()
                if optimizer is optimizers[1] and k > 5:
                    optimizer.predict([trial, {"lr": 1e-4, "units": 20, "act": "tanh"}])
                    optimizer.explain(trial), optimizer.explain(0), optimizer.result().predict(trial)
                optimizer.tell(trial, loss(**trial.params)) if k % 5 else optimizer.fail(trial, "odd")
        assert optimizers[0].state() == optimizers[1].state()

    def test_nobody_waits_for_a_choice(self) -> None:
        entered, go = Event(), Event()

        class Slow(Aegis):
            def suggest(self, *known: Any) -> Any:
                entered.set()
                assert go.wait(120)
                return super().suggest(*known)

        go.set()
        optimizer = driven(8, strategy=Slow())
        expected = optimizer.predict(POINTS)
        go.clear(), entered.clear()
        asking = Thread(target=optimizer.ask, daemon=True)
        asking.start()
        assert entered.wait(60)
        np.testing.assert_array_equal(optimizer.predict(POINTS).mean, expected.mean)
        optimizer.explain(3)
        assert asking.is_alive()
        go.set()
        asking.join(60)
        assert len(optimizer.trials) == 10


def test_pending_trials_change_nothing_and_a_failure_changes_the_chance_to_succeed_only() -> None:
    optimizer = driven(8)
    expected = optimizer.predict(POINTS)
    np.testing.assert_array_equal(expected.success, 1.0)
    trial = optimizer.ask()
    for name in QUANTITIES:
        np.testing.assert_array_equal(getattr(optimizer.predict(POINTS), name), getattr(expected, name))
    optimizer.fail(trial, "odd")
    for name in set(QUANTITIES) - {"success"}:
        np.testing.assert_allclose(getattr(optimizer.predict(POINTS), name), getattr(expected, name))
    assert optimizer.predict(trial).success < 0.01
    assert "to succeed 0.0%" in repr(optimizer.predict(trial))


def test_the_papers_model_takes_a_failure_for_the_worst_value() -> None:
    optimizer = driven(8, preset="paper")
    trial = optimizer.ask()
    other = Optimizer.from_state(optimizer.state())
    optimizer.fail(trial, "odd")
    other.tell(trial, max(t.value for t in other.trials if t.value is not None))
    for name in QUANTITIES:
        np.testing.assert_allclose(getattr(optimizer.predict(POINTS), name), getattr(other.predict(POINTS), name))


class TestPoints:
    def test_in_any_form(self) -> None:
        optimizer = driven(8)
        both = optimizer.predict([[-4.0, 2.9], [3.3, 2.25]])
        assert both.mean.shape == both.chance.shape == (2,)
        by_name = {"x0": 3.3, "x1": 2.25}
        for point in ([3.3, 2.25], (3.3, 2.25), np.array([3.3, 2.25]), by_name, iter([3.3, 2.25])):
            one = optimizer.predict(point)
            assert [type(getattr(one, name)) for name in QUANTITIES] == [float] * 6
            assert one.mean == pytest.approx(both.mean[1], rel=1e-9)
        trial = optimizer.trials[4]
        among = optimizer.predict([by_name, trial, trial.x]).mean
        assert among[1] == among[2] == pytest.approx(optimizer.predict(trial.x).mean, rel=1e-9)
        assert optimizer.predict([]).mean.shape == (0,)
        assert optimizer.predict(np.array([[3.3, 2.25]])).mean.shape == (1,)

    def test_of_names_whole_numbers_and_choices(self) -> None:
        optimizer = driven(12, lambda trial: loss(**trial.params), space=MIXED)
        relu = {"lr": 1e-3, "units": 100, "act": "relu"}
        found = optimizer.predict([relu, {**relu, "act": "tanh"}])
        assert found.mean[0] < found.mean[1]
        unnamed = Optimizer(list(MIXED.values()), seed=3)
        for trial in optimizer.trials[:10]:
            unnamed.observe(list(trial.params.values()), trial.value)
        assert isinstance(unnamed.predict([1e-3, 100, "relu"]).mean, float)
        assert unnamed.predict([[1e-3, 100, "relu"], [1e-3, 100, "tanh"]]).mean.shape == (2,)

    @pytest.mark.parametrize(
        ("point", "complaint"),
        [
            ([11.0, 2.5], "'x0': 11.0 is not within"),
            ([1.0], "x must hold 2 values"),
            ([[1.0, 2.5], [1.0]], "x must hold 2 values"),
            ("ab", "x must hold 2 values, got 'ab'"),
            ({"x0": 1.0}, "x must have the names x0, x1"),
            (7, "x must hold 2 values, got 7"),
            (None, "x must hold 2 values, got None"),
        ],
    )
    def test_that_are_none_are_refused_in_the_words_of_the_space(self, point: Any, complaint: str) -> None:
        with pytest.raises(InvalidInput, match=complaint):
            driven(4).predict(point)


class TestWithoutAModel:
    @pytest.mark.parametrize("values", [0, 1, 2])
    def test_too_few_values(self, values: int) -> None:
        optimizer = driven(values)
        said = f"There is no model yet: it takes 3 values, and there are {values}."
        for ask in (optimizer.predict, optimizer.result().predict):
            with pytest.raises(NoModel, match=said):
                ask([1.0, 2.5])
        explanation = optimizer.explain([1.0, 2.5])
        assert (explanation.prediction, explanation.remark) == (None, said)
        assert said in repr(explanation)
        assert driven(3).predict([1.0, 2.5]).std > 0

    def test_a_strategy_that_has_none(self) -> None:
        optimizer = driven(9, strategy="random")
        with pytest.raises(NoModel, match=r"Random\(n=None\) has no model: use another"):
            optimizer.predict([1.0, 2.5])
        assert "chosen: by the move random" in repr(optimizer.explain(8))


class TestExplain:
    def test_the_nearest_point_is_the_nearest_and_never_itself(self) -> None:
        optimizer = driven(12)
        optimizer.observe([9.9, 2.95], 80.0)
        ended = [*optimizer.observed, *optimizer.trials[:12]]
        scales = optimizer.model().belief.exploring.gp.kernel.lengthscale * [15, 1]
        for point in ([9.0, 2.9], [0.0, 2.0], 5, -1):
            given = [trial for trial in ended if trial.number == point]
            x = given[0].x if given else point
            distances = {t.number: np.linalg.norm((t.x - x) / scales) for t in ended if t not in given}
            found = optimizer.explain(point)
            assert found.nearest.number == min(distances, key=distances.get)
            assert found.distance == pytest.approx(min(distances.values()))

    @pytest.mark.long
    def test_influence_is_what_one_parameter_alone_would_change(self) -> None:
        optimizer = driven(20, lambda trial: -loss(**trial.params), space=MIXED, maximize=True)
        point = {"lr": 1e-4, "units": 100, "act": "relu"}
        influence = optimizer.explain(point).influence
        dense = {"lr": np.geomspace(1e-6, 0.1, 500).clip(1e-6, 0.1), "units": range(16, 513), "act": ["relu", "tanh"]}
        for name, values in dense.items():
            means = optimizer.predict([{**point, name: value} for value in values]).mean
            low, high, best = influence[name]
            assert (low, high) == pytest.approx((means.min(), means.max()), abs=0.02 * np.ptp(means))
            assert optimizer.predict({**point, name: best}).mean == pytest.approx(high)
            assert low - 1e-9 <= optimizer.predict(point).mean <= high + 1e-9  # one by one it is rounded differently
        spans = [high - low for low, high, _ in influence.values()]
        assert spans == sorted(spans, reverse=True)

    def test_a_trial_tells_what_was_decided(self) -> None:
        optimizer = driven(9)
        trial = optimizer.trials[7]
        text = repr(optimizer.explain(7))
        assert f"trial 7 ({trial.value:.6g})" in text
        assert f"by the move {trial.note['move']}, when {trial.note['mean']:.6g} ± {trial.note['std']:.3g} was" in text
        assert optimizer.explain(trial) == optimizer.explain(7)
        assert optimizer.explain(9).trial.state == "pending"
        assert optimizer.explain(trial.params).trial is None

    @pytest.mark.parametrize(
        ("guard", "words"),
        [
            ("next", "the next choice of the same move"),
            ("pareto", "a choice of the move pareto"),
            ("random", "a random point"),
        ],
    )
    def test_what_was_taken_instead_of_a_known_point_is_said_in_words(self, guard: str, words: str) -> None:
        trial = replace(driven(1).trials[0], note={"move": "exploit", "guard": guard})
        said = f"chosen: by the move exploit, instead of a point that was known already ({words})"
        assert said in repr(Explanation(trial.params, trial))

    def test_every_line_is_as_it_should_be(self) -> None:
        optimizer = driven(8, lambda trial: loss(**trial.params), space=MIXED)
        optimizer.observe({"lr": 1.25e-3, "units": 99, "act": "tanh"}, 1.25)
        found = optimizer.explain(-1)
        nearest, lines = found.nearest, repr(found).splitlines()
        assert lines[:7] == [
            "  point of: observed point 1 (1.25)",
            "    chosen: by the move observed",
            "     point: lr=0.00125, units=99, act='tanh'",
            f"prediction: {optimizer.predict(optimizer.observed[0])}",
            "     doubt: 9 results are few: whether predictions hold was measured from 15 on",
            f"   nearest: trial {nearest.number} ({nearest.value:.6g}), {found.distance:.3g} length scales away",
            "parameters: if only one varied over its range, the prediction would go",
        ]
        assert lines[7:] == [
            f"              {name:<5}  from {low:.4g} to {high:.4g}, best at {f'{best:.6g}' if name == 'lr' else best}"
            for name, (low, high, best) in found.influence.items()
        ]
        other = {"lr": 1e-4, "units": 300, "act": "relu"}
        best = min(optimizer.trials[:8], key=lambda trial: trial.value)
        told = f"observed point 1 ({1.25})" if best.value > 1.25 else f"trial {best.number} ({best.value:.6g})"
        said = f"    chance: {optimizer.predict(other).chance:.1%} to be better than the best so far, {told}"
        assert said in repr(optimizer.explain(other)).splitlines()

    def test_a_prediction_that_says_little_is_doubted_in_a_sentence(self) -> None:
        rng = np.random.default_rng(0)
        optimizer = driven(20, lambda trial: float(rng.standard_normal()))
        widths = [found.high - found.low for found in map(optimizer.predict, POINTS)]
        wide = np.ptp([trial.value for trial in optimizer.trials[:20]]) < np.array(widths)
        said = "     doubt: the band is wider than all results: they say next to nothing about this point"
        assert [said in repr(optimizer.explain(x)) for x in POINTS] == wide.tolist()
        assert wide.any()
        assert not wide.all()

    def test_what_is_no_point_is_refused(self) -> None:
        optimizer = driven(4)
        with pytest.raises(TrialError, match="Trial 99 was never asked for"):
            optimizer.explain(99)
        with pytest.raises(TrialError, match="Trial -1 was never asked for"):
            optimizer.explain(-1)
        with pytest.raises(InvalidInput, match="Expected a trial or its number, got True"):
            optimizer.explain(True)
        with pytest.raises(InvalidInput, match="x must hold 2 values"):
            optimizer.explain([1.0])


def test_a_result_keeps_the_model_of_its_time() -> None:
    optimizer = driven(6)
    result, expected = optimizer.result(), optimizer.predict(POINTS)
    for _ in range(4):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.x))
    np.testing.assert_array_equal(result.predict(POINTS).mean, expected.mean)
    assert not np.allclose(optimizer.predict(POINTS).mean, expected.mean)
    assert result.optimizer.trials == result.trials


def test_a_prediction_shows_itself_in_short() -> None:
    found = driven(6).predict([[k / 2, 2.5] for k in range(12)])
    lines = repr(found).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "... and 2 more"
    one = found.at(3)
    assert lines[3] == (
        f"{one.mean:.6g} ± {one.std:.3g} (95 %: {one.low:.6g} to {one.high:.6g}), chance to improve {one.chance:.1%}"
    )


def test_a_printed_prediction_tells_the_chances_that_are_not_certain() -> None:
    sure = Prediction(1.0, 0.5, 0.0, 2.0, 0.25, 1.0)
    assert str(sure) == "1 ± 0.5 (95 %: 0 to 2)"
    assert repr(sure) == f"{sure}, chance to improve 25.0%"
    risky = replace(sure, success=0.5, feasible=0.125)
    assert str(risky) == "1 ± 0.5 (95 %: 0 to 2), chance to succeed 50.0%, to keep the limits 12.5%"
    assert repr(risky) == f"{sure}, chance to improve 25.0%, to succeed 50.0%, to keep the limits 12.5%"
