from __future__ import annotations

import math

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from aegisbo.errors import InvalidInput
from aegisbo.integrations import from_optuna
from aegisbo.space import Choice, Int, Real

KINDS: dict[str, BaseDistribution] = {
    "act": CategoricalDistribution(["relu", "tanh"]),
    "constant": FloatDistribution(2, 2),
    "lr": FloatDistribution(1e-5, 1e-1, log=True),
    "units": IntDistribution(16, 64, step=16),
}
POINT = {"act": "tanh", "constant": 2.0, "lr": 1e-3, "units": 48}


def study_with(*outcomes: tuple[TrialState, float | None], direction: str = "minimize") -> optuna.Study:
    study = optuna.create_study(direction=direction)
    for k, (state, value) in enumerate(outcomes):
        params = {**POINT, "lr": 1e-3 * (k + 1)}
        study.add_trial(optuna.create_trial(state=state, params=params, distributions=KINDS, value=value))
    return study


def test_an_optimizer_goes_on_where_a_study_has_ended() -> None:
    values = [3.0, 1.0, 2.0, 4.0]
    optimizer = from_optuna(study_with(*((TrialState.COMPLETE, value) for value in values)), seed=1)
    assert dict(optimizer.space.parameters) == {
        "act": Choice(["relu", "tanh"]),
        "lr": Real(1e-5, 1e-1, log=True),
        "units": Int(16, 64, step=16),
    }
    assert [trial.value for trial in optimizer.observed] == values
    assert optimizer.best is not None
    assert optimizer.best.x == {"act": "tanh", "lr": 2e-3, "units": 48}
    assert optimizer.ask().note["move"] == "exploit"  # four results are enough to start from


def test_failures_and_last_reports_are_taken_over_and_running_trials_are_not() -> None:
    states = [
        (TrialState.COMPLETE, 5.0),
        (TrialState.FAIL, None),
        (TrialState.COMPLETE, math.inf),
        (TrialState.PRUNED, 7.0),
        (TrialState.RUNNING, None),
    ]
    optimizer = from_optuna(study_with(*states))
    assert [trial.state for trial in optimizer.observed] == ["done", "invalid", "invalid", "done"]
    assert [trial.value for trial in optimizer.observed] == [5.0, None, None, 7.0]


def test_the_direction_is_that_of_the_study() -> None:
    optimizer = from_optuna(study_with((TrialState.COMPLETE, 1.0), (TrialState.COMPLETE, 2.0), direction="maximize"))
    assert optimizer.best is not None
    assert optimizer.best.value == 2.0


def test_values_out_of_range_are_left_out() -> None:
    study = study_with((TrialState.COMPLETE, 1.0))
    study.enqueue_trial({"lr": 1.0})
    with pytest.warns(UserWarning, match="out of range"):
        trial = study.ask(KINDS)
    study.tell(trial, 0.0)
    assert len(from_optuna(study).observed) == 1


def test_studies_that_cannot_be_taken_over_are_refused() -> None:
    with pytest.raises(InvalidInput, match="have no parameter in common"):
        from_optuna(optuna.create_study())
    study = optuna.create_study()
    study.add_trial(
        optuna.create_trial(params={"p": 0.5}, distributions={"p": FloatDistribution(0, 1, step=0.5)}, value=0.0)
    )
    with pytest.raises(InvalidInput, match=r"'p': FloatDistribution\(.*\) has no counterpart: use an int"):
        from_optuna(study)


def test_constraints_are_refused() -> None:
    study = optuna.create_study()
    study.ask()
    study.ask().set_constraint("weight", 1.0)
    with pytest.raises(InvalidInput, match=r"carries no constraints over, and trial 1 has set \['weight'\]"):
        from_optuna(study)
