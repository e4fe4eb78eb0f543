"""Where time matters: limits are kept by each point's own time, and equal times change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Int, Optimizer, Real
from aegisbo.errors import InvalidInput, NoTime
from aegisbo.optimizer import Settings, Trial
from aegisbo.outcome import Outcome
from aegisbo.strategies.log_expected_improvement import log_expected_improvement
from aegisbo.study import Study
from aegisbo.study.replay import replay

SPACE = {"x": Real(-5, 10), "n": Int(2, 30)}


def value(x: float, n: int) -> float:
    return (x - 4) ** 2 + (n - 20) ** 2 / 50


def slow_above(x: float, n: int) -> float:
    """From 1 to 1000 seconds, the longer the larger x is; the best point takes 60."""
    return float(1000 ** ((x + 5) / 15))


def tell(optimizer: Optimizer, trial: Trial, law=slow_above) -> Trial:
    return optimizer.tell(trial, value(**trial.x), seconds=law(**trial.x))


def run(count: int, law=slow_above, **options: Any) -> Optimizer:
    optimizer = Optimizer(SPACE, **{"seed": 3, **options})
    for _ in range(count):
        tell(optimizer, optimizer.ask(), law)
    return optimizer


def _seconds(optimizer: Optimizer) -> float:
    return sum(trial.seconds for trial in optimizer.trials[8:])  # which were chosen when times were known


class TestWithin:
    @pytest.mark.long
    @pytest.mark.parametrize("strategy", ["aegis", "ei", "random"])
    def test_every_point_ends_in_time(self, strategy: str) -> None:
        optimizer = run(12, strategy=strategy)
        hurried = [tell(optimizer, optimizer.ask(within=10.0)) for _ in range(8)]
        assert max(trial.seconds for trial in hurried) < 10.5
        assert any("within_seconds" in trial.note for trial in hurried)
        expected = [trial.note["expected_seconds"] for trial in hurried]
        np.testing.assert_allclose(expected, [trial.seconds for trial in hurried], rtol=0.1)

    def test_a_point_that_ends_in_time_anyway_is_not_changed(self) -> None:
        assert run(12).ask(within=2000.0).params == run(12).ask().params

    @pytest.mark.long
    def test_without_a_point_that_does_nothing_has_changed(self) -> None:
        optimizer = run(12)
        before = optimizer.state()
        with pytest.raises(NoTime, match=r"within 0\.5 s"):
            optimizer.ask(within=0.5)
        with pytest.raises(NoTime):
            optimizer.ask(within=0.0)
        assert optimizer.state() == before
        assert optimizer.ask().params == run(12).ask().params

    def test_points_of_the_initial_design_are_replaced_too(self) -> None:
        optimizer = run(7, n_initial=20)
        trials = [optimizer.ask(within=5.0) for _ in range(6)]
        assert {trial.note["move"] for trial in trials} == {"initial", "random"}
        assert max(slow_above(**trial.x) for trial in trials) < 8

    def test_the_most_promising_of_the_quick_points_is_chosen(self) -> None:
        optimizer = run(14)
        belief = optimizer.model().belief

        def promise(Z):
            return log_expected_improvement(*belief.gp.predict(Z), belief.best)[0]

        trial = optimizer.ask(within=45.0)
        assert trial.note["within_seconds"] == 45.0
        draws = optimizer.space.cube.fill(np.random.default_rng(0).random((2000, 2)))
        others = [z for z in draws if slow_above(**optimizer.space.from_unit(z)) < 40]
        assert promise(optimizer.space.to_unit(trial.params)[None]) > np.quantile(promise(np.array(others)), 0.99)

    def test_before_a_time_is_known_everything_is_started(self) -> None:
        optimizer = Optimizer(SPACE, seed=3)
        assert optimizer.ask(within=1e-6).params == Optimizer(SPACE, seed=3).ask().params

    def test_what_raised_an_exception_tells_nothing(self) -> None:
        optimizer = Optimizer(SPACE, seed=3)
        for state in ("failed", "timed_out"):
            trial = optimizer.ask(within=5.0)
            optimizer.end(trial, Outcome(state, reason="no", seconds=100.0))
        with pytest.raises(NoTime):
            optimizer.ask(within=5.0)


class TestCost:
    @pytest.mark.long
    @pytest.mark.parametrize("law", [lambda x, n: 7.0, lambda x, n: 7.0 + 1e-13 * x], ids=["equal", "rounded"])
    def test_equal_times_change_no_choice(self, law) -> None:
        plain, priced = run(16, law), run(16, law, cost="time")
        assert [trial.params for trial in plain.trials] == [trial.params for trial in priced.trials]
        assert plain.memory == priced.memory

    def test_unknown_times_change_no_choice(self) -> None:
        plain, priced = Optimizer(SPACE, seed=3), Optimizer(SPACE, seed=3, cost="time")
        for _ in range(12):
            one, other = plain.ask(), priced.ask()
            assert one.params == other.params
            plain.tell(one, value(**one.x))
            priced.tell(other, value(**other.x))

    @pytest.mark.long
    def test_quick_points_are_preferred(self) -> None:
        def law(x: float, n: int) -> float:
            return float(1000 ** ((n - 2) / 28))

        plain, priced = run(20, law, seed=4), run(20, law, seed=4, cost="time")
        assert _seconds(priced) < 0.6 * _seconds(plain)

    @pytest.mark.long
    def test_it_is_stored_and_leads_to_the_same_choices(self) -> None:
        optimizer = run(12, cost="time")
        again = Optimizer.from_state(optimizer.state())
        assert again.settings.cost == "time"
        for _ in range(4):
            one, other = tell(optimizer, optimizer.ask()), tell(again, again.ask())
            assert one.params == other.params

    def test_states_from_before_there_was_a_cost_are_read(self) -> None:
        state = run(3).state()
        del state["cost"]
        assert Optimizer.from_state(state).settings.cost is None

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"cost": "money"}, "cost is 'money': give 'time', or None if all evaluations cost the same"),
            ({"cost": True}, "cost is True: give 'time'"),
            ({"cost": "time", "strategy": "random"}, "cost='time' goes with the strategy aegis"),
        ],
    )
    def test_what_cannot_be_used_is_refused(self, given: dict[str, Any], words: str) -> None:
        with pytest.raises(InvalidInput, match=words):
            Optimizer(SPACE, **given)

    def test_a_run_is_not_continued_at_another_cost(self) -> None:
        plain, priced = (Settings.checked(SPACE, cost=cost) for cost in (None, "time"))
        assert priced.differences_from(plain) == ["cost is None in the study and 'time' in this call"]
        assert plain.differences_from(priced) == []  # left open


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "long"])
def test_seconds_that_are_none_are_refused(seconds: object) -> None:
    optimizer = Optimizer(SPACE, seed=3)
    trial = optimizer.ask()
    with pytest.raises(InvalidInput, match=r"seconds is .*: give a number of seconds"):
        optimizer.tell(trial, 1.0, seconds)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"within is .*: give a number of seconds"):
        optimizer.ask(within=seconds)  # type: ignore[arg-type]
    assert optimizer.pending == (trial,)


@pytest.mark.long
def test_a_hurried_and_priced_study_is_resumed_and_replayed(tmp_path: Path) -> None:
    path, settings = tmp_path / "run.db", Settings.checked(SPACE, seed=3, cost="time")
    for limits in ([None] * 12, [10.0] * 6):
        with Study.open(path, settings) as study:
            for limit in limits:
                trial = study.ask(limit)
                seconds = slow_above(**trial.x)
                outcome = Outcome("done", value(**trial.x), seconds=seconds)
                study.take_in(study.ended(trial.number, outcome, seconds))
            hurried = sum("within_seconds" in trial.note for trial in study.optimizer.trials)
    assert hurried > 0
    assert replay(path).differences == ()
