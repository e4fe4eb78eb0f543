"""A study whose branches cannot be told says once what the model cannot see; any other says nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from aegisbo import AegisSampler

ALL: dict[str, BaseDistribution] = {
    "model": CategoricalDistribution(["svm", "forest"]),
    "C": FloatDistribution(1e-3, 10.0, log=True),
    "depth": IntDistribution(1, 9),
}


def branching(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("model", ["svm", "forest"]) == "svm":
        return abs(trial.suggest_float("C", 1e-3, 10.0, log=True) - 1)
    return abs(trial.suggest_int("depth", 1, 9) - 4)


def apart(trial: optuna.Trial) -> float:
    odd = trial.number % 2
    return trial.suggest_float("C", 1e-3, 10.0, log=True) if odd else float(trial.suggest_int("depth", 1, 9))


def shifting(trial: optuna.Trial) -> float:
    return trial.suggest_float("x", -5, 10) + trial.suggest_float("y", 2, 3 + trial.number)


def everything(trial: optuna.Trial) -> float:
    """The remedy: all parameters in every trial."""
    model, C = trial.suggest_categorical("model", ["svm", "forest"]), trial.suggest_float("C", 1e-3, 10.0, log=True)
    depth = trial.suggest_int("depth", 1, 9)
    trial.suggest_int("constant", 3, 3)
    if trial.number == 2:
        raise optuna.TrialPruned
    return abs(C - 1) if model == "svm" else abs(depth - 4)


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What is logged as a warning, with Optuna's log as loud as it is by default."""
    words: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.WARNING:
                words.append(record.getMessage())

    before, listener = optuna.logging.get_verbosity(), Listener()
    logger = logging.getLogger("optuna")
    optuna.logging.set_verbosity(optuna.logging.INFO)
    logger.addHandler(listener)
    yield words
    logger.removeHandler(listener)
    optuna.logging.set_verbosity(before)


def study_of(objective: Callable[[optuna.Trial], float], trials: int, n_jobs: int = 1, **options: Any) -> None:
    study = optuna.create_study(sampler=AegisSampler(seed=0, strategy="random", **options))
    study.optimize(objective, n_trials=trials, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("objective", "options", "expected"),
    [
        (apart, {}, r"when these parameters are suggested, or with which range: C, depth. .* the model knows none\."),
        (shifting, {}, r"suggested, or with which range: y. .* the model knows only x\. Let the values"),
        (
            apart,
            {"search_space": ALL},
            # Of four jobs, the first to complete may all have suggested the same one of the two.
            r"^\d+ of \d+ .* lack parameters of search_space \((C, )?(depth, )?model\)\. .* learns nothing",
        ),
        (everything, {"search_space": {"dept": ALL["depth"]}}, r"lack parameters of search_space \(dept\)"),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_study_that_cannot_be_modeled_says_so_once(
    objective: Callable[[optuna.Trial], float], options: dict[str, Any], expected: str, n_jobs: int, said: list[str]
) -> None:
    study_of(objective, 24, n_jobs, **options)
    (words,) = said
    assert re.search(expected, words), words


@pytest.mark.parametrize("objective", [everything, branching])
@pytest.mark.parametrize("options", [{}, {"search_space": ALL}])
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_study_that_is_modeled_says_nothing(
    objective: Callable[[optuna.Trial], float], options: dict[str, Any], n_jobs: int, said: list[str]
) -> None:
    study_of(objective, 24, n_jobs, **options)
    assert said == []
