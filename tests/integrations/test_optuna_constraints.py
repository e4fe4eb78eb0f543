"""Optuna's constraints: set in the objective, or by a function after it; both as for Optuna's own samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.trial import FrozenTrial

from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_history import Reader
from aegisbo.integrations.optuna_sampler import AegisSampler
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.optimizer.direction import Direction

PLANE = {name: optuna.distributions.FloatDistribution(-5.0, 10.0) for name in "ab"}


def bowl(trial: optuna.Trial) -> tuple[float, float]:
    a, b = ((trial.suggest_float(name, -5.0, 10.0) + 5.0) / 15.0 for name in "ab")
    return (a - 0.9) ** 2 + (b - 0.8) ** 2, a + b - 1.0


def set_inside(trial: optuna.Trial) -> float:
    value, excess = bowl(trial)
    trial.set_constraint("sum", excess)
    return value


def kept_for_later(trial: optuna.Trial) -> float:
    value, excess = bowl(trial)
    trial.set_user_attr("excess", excess)
    return value


def later(trial: FrozenTrial) -> Sequence[float]:
    return [trial.user_attrs["excess"]]


def run(objective: Any, n: int = 22, **options: Any) -> optuna.Study:
    study = optuna.create_study(sampler=AegisSampler(seed=1, search_space=PLANE, **options))
    study.optimize(objective, n_trials=n)
    return study


@pytest.mark.long
def test_both_ways_say_the_same_and_lead_to_the_edge() -> None:
    """Where a + b = 1 the bowl is lowest at 0.245."""
    one, other = run(set_inside), run(kept_for_later, constraints_func=later)
    assert [trial.params for trial in one.trials] == [trial.params for trial in other.trials]
    assert [list(trial.constraints.values()) for trial in one.trials] == [
        list(trial.constraints.values()) for trial in other.trials
    ]
    assert 0.245 - 1e-9 <= one.best_value < 0.27
    assert one.best_trial.constraints["sum"] <= 0.0
    assert {"lengthscale", "feasible"} <= set(one.trials[-1].user_attrs["aegisbo:note"])


def test_trials_are_evidence_with_their_constraints() -> None:
    study = optuna.create_study()
    for k, constraints in enumerate([{"p": -1.0, "q": 2.0}, {"p": 1.0}, {"p": 0.0, "q": -3.0}]):
        trial = study.ask(PLANE)
        for name, value in constraints.items():
            trial.set_constraint(name, value)
        study.tell(trial, float(k))
    evidence = Reader(SearchSpace(PLANE), Direction(False), None).read(study.trials, 99).evidence
    assert evidence.y.tolist() == [0.0, 2.0]  # the second lacks q
    np.testing.assert_array_equal(evidence.excess, [[-1.0, 2.0], [0.0, -3.0]])
    assert evidence.kept.tolist() == [False, True]


@pytest.mark.parametrize("answer", [3.0, [float("nan")], ["x"]])
def test_a_function_that_returns_no_numbers_is_refused(answer: Any) -> None:
    with pytest.raises(InvalidInput, match="constraints_func must return a list of numbers"):
        run(kept_for_later, n=1, constraints_func=lambda trial: answer)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(InvalidInput, match="constraints_func must be a function"):
        AegisSampler(constraints_func=3)  # type: ignore[arg-type]
