"""Reports to an optimizer: what a trial keeps of them, when they end it, and what is learned from a stopped one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer, Stopped
from aegisbo.errors import InvalidInput, TrialError, UnknownName

pytestmark = pytest.mark.long

SPACE = {"x": (-1.0, 3.0), "y": (2.0, 7.0)}
STEPS = 9


def curve(params: dict[str, float], step: int, sign: float = 1.0) -> float:
    return sign * ((params["x"] - 0.3) ** 2 + 0.1 * (params["y"] - 3.0) ** 2 + 1.0 / step)


def train(optimizer: Optimizer, sign: float = 1.0, steps: int = STEPS) -> None:
    trial = optimizer.ask()
    try:
        for step in range(1, steps + 1):
            optimizer.report(trial, curve(trial.params, step, sign), step)
    except Stopped:
        return
    optimizer.tell(trial, curve(trial.params, steps, sign))


def trained(n: int, sign: float = 1.0, **settings: Any) -> Optimizer:
    optimizer = Optimizer(SPACE, seed=3, n_initial=5, **settings)
    for _ in range(n):
        train(optimizer, sign)
    return optimizer


def test_a_trial_keeps_what_it_reported() -> None:
    optimizer = Optimizer(SPACE, seed=3)
    number = optimizer.ask().number
    optimizer.report(number, 0.5)
    optimizer.report(number, math.nan)
    trial = optimizer.report(number, 0.25, step=10)
    assert [tuple(each) for each in trial.reports] == [(1.0, 0.5, None), (2.0, None, None), (10.0, 0.25, None)]
    trial = optimizer.report(number, 0.4, step=2)  # it began anew there
    assert [tuple(each) for each in trial.reports] == [(1.0, 0.5, None), (2.0, 0.4, None)]
    assert optimizer.tell(number, 0.1).reports == trial.reports
    assert optimizer.retry(number).reports == ()


@pytest.mark.parametrize(
    ("value", "step", "said"), [("much", 1, "reported is 'much'"), (1.0, math.nan, "step"), (1.0, "two", "step")]
)
def test_what_is_no_number_is_refused(value: Any, step: Any, said: str) -> None:
    optimizer = Optimizer(SPACE, seed=3)
    with pytest.raises(InvalidInput, match=said):
        optimizer.report(optimizer.ask(), value, step)


def test_a_trial_that_has_ended_reports_no_more() -> None:
    optimizer = Optimizer(SPACE, seed=3)
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.raises(TrialError, match="already ended"):
        optimizer.report(0, 1.0)


def test_reports_alone_change_no_choice() -> None:
    silent = Optimizer(SPACE, seed=3, n_initial=5)
    for _ in range(12):
        trial = silent.ask()
        silent.tell(trial, curve(trial.params, STEPS))
    talking = trained(12)
    assert [trial.params for trial in talking.trials] == [trial.params for trial in silent.trials]
    assert talking.ask().params == silent.ask().params


def test_a_stopped_trial_is_neither_a_failure_nor_a_value() -> None:
    optimizer = trained(15, stop_early="ranks", steps=STEPS)
    stopped = [trial for trial in optimizer.trials if trial.state == "stopped"]
    assert len(stopped) >= 3
    assert all(trial.value is None and "it was number" in str(trial.reason) for trial in stopped)
    assert optimizer.trials[0].state == "done"
    tally = optimizer.tally()
    assert (tally.done + tally.stopped, tally.failed) == (15, 0)
    assert optimizer.result().nfev == 15
    assert optimizer.result().failures == {}
    with pytest.raises(TrialError, match="stopped"):
        optimizer.tell(stopped[0], 1.0)


def test_its_end_is_expected_with_its_spread_and_never_the_best() -> None:
    optimizer = trained(15, stop_early="ranks", steps=STEPS)
    evidence, measured = optimizer.evidence(), optimizer.measured()
    n = len(measured.y)
    stopped = [trial for trial in optimizer.trials if trial.state == "stopped"]
    ends = optimizer.expected_ends()
    np.testing.assert_allclose(evidence.y[n:], [ends[trial.number].value for trial in stopped])
    np.testing.assert_allclose(evidence.sd[n:], [ends[trial.number].sd for trial in stopped])
    # All these curves go the same way, so it hardly differs from the true one.
    true = np.array([curve(trial.params, STEPS) for trial in stopped])
    assert np.all(np.abs(evidence.y[n:] - true) < 3.0 * evidence.sd[n:])
    np.testing.assert_array_equal(evidence.X[n:], [optimizer.space.to_unit(trial.params) for trial in stopped])
    np.testing.assert_array_equal(evidence.X[:n], measured.X)
    assert not evidence.kept[n:].any()
    assert evidence.kept[:n].all()
    assert len(evidence.taken) == len(optimizer.trials)
    best = min((trial for trial in optimizer.trials if trial.state == "done"), key=lambda trial: trial.value)
    assert optimizer.best == best
    assert optimizer.explain(stopped[0].number).prediction is not None


def test_without_others_to_compare_only_the_point_is_known() -> None:
    optimizer = Optimizer({"k": (0.0, 1.0)}, seed=1, stop_early="ranks", steps=3)
    for value in (1.0, 2.0):
        optimizer.report(optimizer.ask(), value, 1)
    with pytest.raises(Stopped):
        optimizer.report(optimizer.ask(), 3.0, 1)
    evidence = optimizer.evidence()
    assert (len(evidence.y), len(evidence.stopped), len(evidence.taken)) == (0, 1, 3)


def test_with_limits_only_the_point_is_known() -> None:
    optimizer = Optimizer(SPACE, seed=3, n_initial=5, stop_early="ranks", steps=STEPS, limits=["m <= 1"])
    for _ in range(12):
        trial = optimizer.ask()
        try:
            for step in range(1, STEPS + 1):
                optimizer.report(trial, curve(trial.params, step), step)
        except Stopped:
            continue
        optimizer.tell(trial, curve(trial.params, STEPS), measured={"m": 0.5})
    stopped = optimizer.tally().stopped
    assert len(optimizer.evidence().stopped) == stopped >= 2
    assert len(optimizer.evidence().taken) == 12


def test_the_largest_values_go_on_where_they_are_wanted() -> None:
    down, up = (
        trained(15, stop_early="ranks", steps=STEPS),
        trained(15, -1.0, stop_early="ranks", steps=STEPS, maximize=True),
    )
    assert [trial.state for trial in up.trials] == [trial.state for trial in down.trials]
    assert [trial.params for trial in up.trials] == [trial.params for trial in down.trials]


def test_the_end_is_learned_from_the_first_that_ended() -> None:
    optimizer = Optimizer(SPACE, seed=3, n_initial=5, stop_early="ranks")
    for k in range(3):
        optimizer.ask()
        optimizer.report(k, float(k), 1)  # nobody knows yet how far that is
    for step in range(2, 28):
        optimizer.report(0, 0.0, step)
    optimizer.tell(0, 0.0)
    optimizer.report(1, 0.5, 3)  # a ninth of the way
    with pytest.raises(Stopped, match="At step 3 it was number 3 of 3"):
        optimizer.report(2, 1.5, 3)


def test_a_stored_optimizer_goes_on_alike() -> None:
    optimizer = trained(12, stop_early="ranks", steps=STEPS)
    again = Optimizer.from_state(optimizer.state())
    for each in (optimizer, again):
        for _ in range(4):
            train(each)
    assert again.trials == optimizer.trials
    assert [trial.reports for trial in again.trials] == [trial.reports for trial in optimizer.trials]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UnknownName, match="ranks"):
        Optimizer(SPACE, stop_early="rank")
    with pytest.raises(InvalidInput, match="steps is 0"):
        Optimizer(SPACE, stop_early="ranks", steps=0)
    with pytest.raises(InvalidInput, match="stop_early must be True, False"):
        Optimizer(SPACE, stop_early=3.5)
    with pytest.raises(InvalidInput, match="with objectives, leave it out"):
        Optimizer(SPACE, stop_early="ranks", objectives={"a": "min", "b": "max"})
