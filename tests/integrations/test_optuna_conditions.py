"""Branches of Optuna's objectives: their conditions are told from trials, and their trials are modeled together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from aegisbo import AegisSampler, Choice, Int, Real, minimize
from aegisbo.integrations.optuna_conditions import conditions_of, joint_space
from aegisbo.integrations.optuna_export import export
from aegisbo.integrations.optuna_warm_start import from_optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)


def nested(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("model", ["svm", "forest", "mean"]) == "svm":
        if trial.suggest_categorical("kernel", ["rbf", "poly"]) == "rbf":
            return abs(trial.suggest_float("gamma", 0.0, 1.0) - 0.3)
        return 0.3 + 0.1 * trial.suggest_int("degree", 2, 5)
    if trial.params["model"] == "forest":
        return 0.2 + abs(trial.suggest_int("depth", 1, 9) - 4) / 4
    return 1.0


def both(trial: optuna.Trial) -> float:
    a, n = trial.suggest_categorical("a", [True, False]), trial.suggest_int("n", 1, 5, step=2)
    return trial.suggest_float("x", 0.0, 1.0) if a and n >= 2 else 1.0


def on_a_real_axis(trial: optuna.Trial) -> float:
    return trial.suggest_float("x", 0.0, 1.0) if trial.suggest_float("gate", 0.0, 1.0) > 0.5 else 1.0


def told(objective: Callable[[optuna.Trial], float], trials: int = 60) -> dict[str, Any]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=trials)
    return dict(conditions_of(study.trials, joint_space(study.trials)))


def test_conditions_are_told_from_trials() -> None:
    assert told(nested) == {
        "kernel": {"model": [0]},
        "gamma": {"kernel": [0]},
        "degree": {"kernel": [1]},
        "depth": {"model": [1]},
    }
    assert told(both) == {"x": {"a": [0], "n": [3, 5]}}
    ((name, when),) = told(on_a_real_axis).items()
    assert name == "x"
    sign, limit = when["gate"].split()
    assert sign == ">"
    assert 0.4 < float(limit) <= 0.5


def test_a_trial_between_the_steps_says_nothing_of_branches() -> None:
    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_int("n", 0, 10, step=2) if trial.suggest_categorical("kind", ["a", "b"]) == "a" else 1.0

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.enqueue_trial({"kind": "a", "n": 5})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(objective, n_trials=1)
    study.optimize(objective, n_trials=20)
    assert study.trials[0].params == {"kind": "a", "n": 5}
    space = joint_space(study.trials)
    assert (set(space), conditions_of(study.trials, space)) == ({"kind", "n"}, {"n": {"kind": [0]}})


def test_without_branches_there_are_no_conditions() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 1, 3), n_trials=5)
    assert joint_space(study.trials) == {"n": IntDistribution(1, 3), "x": FloatDistribution(0, 1)}
    assert conditions_of(study.trials, joint_space(study.trials)) == {}


def test_a_parameter_that_comes_without_reason_is_left_out() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def moody(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + trial.suggest_float("y", 0, 1) if trial.number % 3 else x

    study.optimize(moody, n_trials=20)
    assert list(joint_space(study.trials)) == ["x"]


@pytest.mark.long
@pytest.mark.parametrize("given", [True, False])
def test_branches_are_chosen_by_the_model(given: bool) -> None:
    space = {
        "model": CategoricalDistribution(["svm", "forest", "mean"]),
        "kernel": CategoricalDistribution(["rbf", "poly"]),
        "gamma": FloatDistribution(0.0, 1.0),
        "degree": IntDistribution(2, 5),
        "depth": IntDistribution(1, 9),
    }
    sampler = AegisSampler(seed=1, n_initial=10, search_space=space if given else None)
    study = optuna.create_study(sampler=sampler)
    study.optimize(nested, n_trials=30)
    moves = [trial.user_attrs["aegisbo:move"] for trial in study.trials]
    assert set(moves[10:]) <= {"exploit", "thompson", "pareto", "improve"}
    assert study.best_params.keys() == {"model", "kernel", "gamma"}
    assert study.best_value < 0.02  # ten random points of this branch alone would be above 0.02 in two of three cases


def test_a_study_with_branches_becomes_a_space_with_conditions() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(nested, n_trials=60)
    optimizer = from_optuna(study, seed=0)
    assert len(optimizer.observed) == 60
    assert dict(optimizer.space.parameters) == {
        "model": Choice(["svm", "forest", "mean"]),
        "kernel": Choice(["rbf", "poly"], when={"model": ["svm"]}),
        "gamma": Real(0, 1, when={"kernel": ["rbf"]}),
        "degree": Int(2, 5, when={"kernel": ["poly"]}),
        "depth": Int(1, 9, when={"model": ["forest"]}),
    }
    assert optimizer.best is not None
    assert optimizer.best.params == study.best_params


def test_a_space_with_conditions_goes_to_optuna_and_back(tmp_path: Path) -> None:
    space = {"a": Choice(["x", "y"]), "n": Int(1, 5, when={"a": "y"}), "r": Real(0, 1, when={"n": ">= 3"})}

    def fun(a: str, n: int = 0, r: float = 0.0) -> float:
        return n + r

    result = minimize(
        fun, space, budget=25, seed=0, n_initial=25, study=tmp_path / "run.db", executor="threads", progress=False
    )
    study = export(tmp_path / "run.db", str(tmp_path / "run.log"))
    assert [trial.params for trial in study.trials] == [trial.params for trial in result.trials]
    again = from_optuna(study, seed=0)
    assert [trial.params for trial in again.observed] == [trial.params for trial in result.trials]
    assert again.space.parameters["n"] == Int(1, 5, when={"a": ["y"]})
    assert again.space.parameters["r"].when == {"n": [3, 4, 5]}
