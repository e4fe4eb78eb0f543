"""Constraints, limits, earlier results, added points and noise in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from aegisbo import Command, Optimizer, load, minimize
from aegisbo.errors import InvalidInput
from aegisbo.outcome import judged
from aegisbo.study import add
from aegisbo.study.replay import replay

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def measure(a: float, b: float) -> tuple[float, dict[str, float]]:
    return (a - 1) ** 2 + (b - 1) ** 2, {"load": a + b, "sd": 0.1}


def test_a_function_says_how_precise_its_value_is() -> None:
    result = minimize(measure, SPACE, budget=3, executor="serial", seed=0)
    assert [trial.sd for trial in result.trials] == [0.1] * 3
    assert all(set(trial.measured) == {"load"} for trial in result.trials)


@pytest.mark.parametrize("sd", [-1.0, float("nan"), float("inf"), "wide"])
def test_a_precision_that_is_none_makes_the_answer_invalid(sd: object) -> None:
    outcome = judged((1.0, {"sd": sd}))
    assert outcome.state == "invalid"
    assert "sd = " in outcome.reason
    with pytest.raises(InvalidInput, match="sd"):
        Optimizer(SPACE, seed=0).observe({"a": 0.1, "b": 0.2}, 1.0, {"sd": sd})  # type: ignore[dict-item]


def test_a_program_says_how_precise_its_value_is(tmp_path: Path) -> None:
    program = Command("sh -c 'echo {a}; echo sd=0.25'")
    result = minimize(program, {"a": (0.0, 1.0)}, budget=2, workers=1, noisy=True, seed=0)
    assert [trial.sd for trial in result.trials] == [0.25] * 2
    assert all(trial.value == trial.params["a"] for trial in result.trials)


def test_no_limit_is_called_sd() -> None:
    with pytest.raises(InvalidInput, match="standard deviation of the value: use another name"):
        Optimizer(SPACE, limits=["sd <= 1"])


def test_what_an_earlier_run_measured_counts_for_limits(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    minimize(measure, SPACE, budget=6, executor="serial", study=old, seed=0)
    result = minimize(
        measure, SPACE, budget=2, executor="serial", study=new, seed=0, observed=old, limits=["load <= 1"]
    )
    observed = result.optimizer.observed
    assert [(trial.measured["load"], trial.sd) for trial in observed] == [
        (trial.measured["load"], 0.1) for trial in load(old).trials
    ]
    assert replay(new).differences == ()
    assert load(new).optimizer.observed == observed


def test_earlier_results_without_what_has_a_limit_are_left_out(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    minimize(lambda a, b: a + b, SPACE, budget=3, executor="serial", study=old, seed=0)
    with pytest.raises(InvalidInput, match="3 because load, which has a limit, was not measured"):
        minimize(measure, SPACE, budget=2, executor="serial", seed=0, observed=old, limits=["load <= 1"])


def test_an_added_point_keeps_constraints(tmp_path: Path) -> None:
    study = tmp_path / "run.db"
    minimize(measure, SPACE, budget=3, executor="serial", study=study, seed=0, constraints=["a + b <= 1"])
    with pytest.raises(InvalidInput, match=r"breaks the constraint a \+ b <= 1"):
        add(study, {"a": 0.9, "b": 0.9})
    add(study, {"a": 0.25, "b": 0.5})
    again = minimize(measure, SPACE, budget=4, executor="serial", study=study, seed=0, constraints=["a + b <= 1"])
    assert again.trials[3].params == {"a": 0.25, "b": 0.5}
    assert replay(study).differences == ()


def test_a_point_is_not_added_where_a_constraint_cannot_be_asked(tmp_path: Path) -> None:
    study = tmp_path / "run.db"

    def little(a: float, b: float) -> bool:
        return a + b <= 1

    minimize(measure, SPACE, budget=3, executor="serial", study=study, seed=0, constraints=[little])
    with pytest.raises(InvalidInput, match="a function that is not here"):
        add(study, {"a": 0.25, "b": 0.5})
