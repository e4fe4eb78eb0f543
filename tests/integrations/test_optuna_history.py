from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import FrozenTrial, TrialState

from aegisbo.integrations.optuna_history import History, Reader
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.integrations.optuna_storage import PublishedPoint, all_trials, publish
from aegisbo.optimizer.direction import Direction

KINDS: dict[str, BaseDistribution] = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(2, 3)}
SPACE = SearchSpace(KINDS)
HOUR = 3600.0


def trial(
    number: int,
    state: TrialState = TrialState.COMPLETE,
    value: float | None = None,
    x: float = 1.0,
    y: float | None = 2.5,
    age: float = 0.0,
    duration: float | None = None,
    system_attrs: dict[str, Any] | None = None,
) -> FrozenTrial:
    """A trial with the point (x, y) that started `age` seconds ago."""
    params = {"x": x} if y is None else {"x": x, "y": y}
    start = datetime.now() - timedelta(seconds=age)
    return FrozenTrial(
        number=number,
        state=state,
        value=value,
        datetime_start=start,
        datetime_complete=None if duration is None else start + timedelta(seconds=duration),
        params=params,
        distributions={name: KINDS[name] for name in params},
        user_attrs={},
        system_attrs=system_attrs or {},
        intermediate_values={},
        trial_id=number,
    )


def read(trials: list[FrozenTrial], *, maximize: bool = False, stale_after: float | None = None) -> History:
    return Reader(SPACE, Direction(maximize), stale_after).read(trials, asking=99)


def test_where_time_is_the_cost_evidence_holds_how_long_whole_trials_took() -> None:
    trials = [
        trial(0, value=7.0, x=-5, y=2, duration=12.0),
        trial(1, TrialState.RUNNING, age=50.0),
        trial(2, TrialState.FAIL, duration=3.0),
        trial(3, TrialState.PRUNED, value=8.0, duration=1.0),
        trial(4, value=6.0, x=10, y=3, duration=40.0),
    ]
    assert read(trials).evidence.timing is None
    timing = Reader(SPACE, Direction(False), None, priced=True).read(trials, asking=99).evidence.timing
    assert timing is not None
    assert timing.costly
    np.testing.assert_allclose(timing.X, [[0, 0], [1, 1]])
    np.testing.assert_allclose(timing.seconds, [12.0, 40.0])


def roles(*trials: FrozenTrial, stale_after: float | None = None) -> dict[int, str]:
    return {number: known.role for number, known in read(list(trials), stale_after=stale_after).known.items()}


def test_evidence_holds_what_trials_say_in_the_order_of_their_numbers() -> None:
    trials = [
        trial(0, value=7.0, x=-5, y=2),
        trial(1, TrialState.RUNNING, x=10, y=3),
        trial(2, TrialState.FAIL, x=-2, y=2.25),
        trial(3, TrialState.PRUNED, value=8.0, x=4, y=2.75),
        trial(4, TrialState.WAITING, x=4, y=2),
        trial(5, value=6.0, x=1, y=2.5),
    ]
    evidence = read(trials).evidence
    np.testing.assert_allclose(evidence.X, [[0, 0], [0.6, 0.75], [0.4, 0.5]])
    assert evidence.y.tolist() == [7, 8, 6]
    np.testing.assert_allclose(evidence.failed, [[0.2, 0.25]])
    np.testing.assert_allclose(evidence.pending, [[1, 1]])
    assert read(trials, maximize=True).evidence.y.tolist() == [-7, -8, -6]


def test_an_empty_study_is_empty_evidence() -> None:
    evidence = read([]).evidence
    assert evidence.X.shape == evidence.failed.shape == evidence.pending.shape == (0, 2)
    assert evidence.y.shape == (0,)


@pytest.mark.parametrize(
    ("state", "value", "role"),
    [
        (TrialState.COMPLETE, math.inf, "failed"),
        (TrialState.COMPLETE, -math.inf, "failed"),
        (TrialState.PRUNED, None, "failed"),  # nothing was reported
        (TrialState.PRUNED, 3.0, "done"),
        (TrialState.PRUNED, math.inf, "failed"),
        (TrialState.FAIL, None, "failed"),
    ],
)
def test_a_trial_without_a_usable_value_has_failed(state: TrialState, value: float | None, role: str) -> None:
    assert roles(trial(0, state, value)) == {0: role}


def test_the_value_of_a_pruned_trial_is_the_last_one_reported() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", -5, 10)
        trial.suggest_float("y", 2, 3)
        trial.report(30.0, step=1)
        trial.report(20.0, step=2)
        raise optuna.TrialPruned

    study = optuna.create_study()
    study.optimize(objective, n_trials=1)
    assert read(study.trials).evidence.y.tolist() == [20.0]


def test_trials_outside_the_space_tell_nothing() -> None:
    assert roles(trial(0, value=1.0, y=None), trial(1, value=1.0, x=11), trial(2, value=1.0)) == {2: "done"}


def test_a_retried_failure_does_not_count() -> None:
    again = trial(3, value=1.0, system_attrs={"failed_trial": 0, "retry_history": [0, 2]})
    failures = [trial(number, TrialState.FAIL) for number in range(3)]
    assert roles(*failures, again) == {1: "failed", 3: "done"}


@pytest.mark.parametrize(
    ("age", "longest", "stale_after", "pending"),
    [
        (HOUR - 60, 0, None, True),
        (HOUR + 60, 0, None, False),
        (5 * HOUR - 60, HOUR, None, True),  # the longest trial took an hour
        (5 * HOUR + 60, HOUR, None, False),
        (60, 0, 120, True),
        (180, 0, 120, False),
        (180, HOUR, 120, False),
        (1e8, 0, math.inf, True),
    ],
)
def test_a_trial_that_runs_for_too_long_is_dead(
    age: float, longest: float, stale_after: float | None, pending: bool
) -> None:
    running = trial(0, TrialState.RUNNING, age=age)
    others = [
        trial(1, TrialState.FAIL, age=1e7, duration=1e7),  # found dead long after
        trial(2, value=1.0, age=1e6, duration=longest / 2),
        trial(3, TrialState.PRUNED, value=1.0, age=1e6, duration=longest),
    ]
    assert roles(running, *others, stale_after=stale_after).get(0) == ("pending" if pending else None)


def test_a_dead_trial_that_ends_after_all_is_a_result() -> None:
    assert roles(trial(0, value=1.0, age=1e7, duration=1e7), stale_after=60) == {0: "done"}


def test_a_running_trial_is_pending_as_soon_as_its_point_is_known() -> None:
    study = optuna.create_study()
    study.enqueue_trial({"y": 2.75})
    study.enqueue_trial({"x": 4.0, "y": 2.25})
    for _ in range(3):
        study.ask()
    for number, x in [(0, [0.4, 0.0]), (2, [0.2, 1.0])]:
        publish(study, study.trials[number], PublishedPoint(SPACE.digest, x, "", {}), attempt=0)
    known = read(all_trials(study)).known
    np.testing.assert_allclose(known[0].x, [0.4, 0.75])  # ours, but for the value that was enqueued
    np.testing.assert_allclose(known[1].x, [0.6, 0.25])
    np.testing.assert_allclose(known[2].x, [0.2, 1.0])


def test_what_a_trial_really_suggested_goes_before_what_was_published() -> None:
    study = optuna.create_study()
    asked = study.ask()
    asked.suggest_float("x", -5, 10)
    publish(study, study.trials[0], PublishedPoint(SPACE.digest, [0.0, 0.5], "", {}), attempt=0)
    (known,) = read(all_trials(study)).known.values()
    assert known.x == pytest.approx([(asked.params["x"] + 5) / 15, 0.5])


def test_a_point_of_another_space_is_not_taken_for_one_of_ours() -> None:
    study = optuna.create_study()
    study.ask()
    publish(study, study.trials[0], PublishedPoint(SearchSpace({"x": KINDS["x"]}).digest, [0.5], "", {}), attempt=0)
    assert read(all_trials(study)).known == {}


def test_news_are_the_points_that_were_not_there_before() -> None:
    before = read([trial(0, TrialState.RUNNING, x=1), trial(1, TrialState.RUNNING, x=4), trial(2, value=1.0)])
    after = read(
        [trial(0, value=3.0, x=1), trial(1, TrialState.RUNNING, x=7), trial(2, value=1.0), trial(5, value=0.0)]
    )
    np.testing.assert_allclose(after.news_since(before), [[0.8, 0.5], [0.4, 0.5]])
    assert after.news_since(after).shape == (0, 2)


def test_categories_are_evidence_too() -> None:
    kinds: dict[str, BaseDistribution] = {"c": CategoricalDistribution(["a", None, "b"])}
    study = optuna.create_study()
    study.add_trial(optuna.create_trial(params={"c": None}, distributions=kinds, value=1.0))
    evidence = Reader(SearchSpace(kinds), Direction(maximize=False), None).read(all_trials(study), asking=1).evidence
    assert evidence.X.tolist() == [[0, 1, 0]]
