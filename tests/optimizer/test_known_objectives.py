"""Objectives that follow from the parameters: a function of them is asked, and nothing need be measured."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from aegisbo import Choice, Optimizer, Real, Result, load, minimize
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.runners.work import work
from aegisbo.study.replay import replay

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}


def size_of(b: float) -> float:
    return 10.0 * b


def weight_of(b: float) -> float:
    return 10.0 * b


OBJECTIVES: dict[str, Any] = {"loss": "min", "size": ("min", size_of)}


def measure(a: float, b: float) -> dict[str, float]:
    return {"loss": (a - 1.0) ** 2 - b}


def run(fun: Any = measure, space: Any = SPACE, budget: int = 5, **options: Any) -> Result:
    given = {"objectives": OBJECTIVES, "strategy": "random", "seed": 5, "executor": "threads", "workers": 1}
    return minimize(fun, space, budget=budget, **given | options)


def test_what_follows_from_the_parameters_need_not_be_told() -> None:
    optimizer = Optimizer(SPACE, objectives=OBJECTIVES, strategy="random")
    trial = optimizer.ask()
    ended = optimizer.tell(trial, {"loss": 1.0})
    assert ended.measured == {"loss": 1.0, "size": 10.0 * trial.params["b"]}
    seen = optimizer.observe({"a": 0.0, "b": 2.5}, {"loss": 3.0, "size": 7.0})
    assert seen.measured == {"loss": 3.0, "size": 25.0}  # exactly, whatever was told
    assert optimizer.evidence().y.tolist() == [[3.0, 25.0], [1.0, 10.0 * trial.params["b"]]]
    lacks = optimizer.tell(optimizer.ask(), {"los": 1.0})
    assert "did not measure loss, which is an objective: return {'loss': ...}" in str(lacks.reason)


@pytest.mark.parametrize("executor", ["serial", "threads", "processes"])
def test_every_engine_adds_it(executor: str) -> None:
    result = run(executor=executor, workers=None if executor == "serial" else 2)
    assert all(
        trial.measured == {**measure(**trial.params), "size": 10.0 * trial.params["b"]} for trial in result.trials
    )


def test_a_list_of_parameters_is_given_to_it_as_to_the_function() -> None:
    objectives: dict[str, Any] = {"loss": "min", "size": ("max", lambda x: x.sum())}
    result = run(lambda x: {"loss": x[0]}, [(-5.0, 10.0), (2.0, 3.0)], objectives=objectives)
    assert all(trial.measured["size"] == pytest.approx(sum(trial.x)) for trial in result.trials)


def test_a_study_names_the_function_which_must_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    first = run(budget=3, study=file)
    again = load(file)  # the numbers are in the file
    assert [each.text for each in again.objectives] == ["loss min", "size min size_of()"]
    assert again.front == first.front
    assert run(budget=5, study=file).trials[4].measured["size"] > 0.0
    assert replay(file).faithful
    with pytest.raises(
        StudyError, match=r"\['loss min', 'size min size_of\(\)'\] in the study and .* 'size min weight"
    ):
        run(budget=6, study=file, objectives={"loss": "min", "size": ("min", weight_of)})
    with pytest.raises(InvalidInput, match=r"made with the objective size_of\(\), a function .* pass it again"):
        work(measure, file, budget=6)
    assert len(load(file).trials) == 5


def test_a_stored_optimizer_is_given_the_function_again() -> None:
    optimizer = Optimizer(SPACE, objectives=OBJECTIVES, strategy="random", seed=1)
    optimizer.tell(optimizer.ask(), {"loss": 1.0})
    state = json.loads(json.dumps(optimizer.state()))
    again = Optimizer.from_state(state, objectives=OBJECTIVES)
    assert again.tell(again.ask(), {"loss": 2.0}).measured["size"] > 0.0
    without = Optimizer.from_state(state)
    assert without.result().front == optimizer.result().front
    with pytest.raises(InvalidInput, match=r"made with the objective size_of\(\)"):
        without.tell(without.ask(), {"loss": 2.0})


def test_it_may_have_a_limit() -> None:
    result = run(budget=20, limits=["size <= 25"])
    assert {trial.state for trial in result.trials} == {"done"}
    assert all(trial.params["b"] <= 2.5 for trial in result.front)
    assert any(trial.params["b"] > 2.5 for trial in result.trials)


def test_an_earlier_table_need_not_have_it(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("a,b,loss\n1,2,3\n4,2.5,6\n")
    observed = run(observed=table).optimizer.observed
    assert [dict(trial.measured) for trial in observed] == [{"loss": 3.0, "size": 20.0}, {"loss": 6.0, "size": 25.0}]
    pairs = run(observed=[({"a": 1.0, "b": 2.0}, {"loss": 3.0})]).optimizer.observed
    assert pairs[0].measured == {"loss": 3.0, "size": 20.0}


def broken(b: float) -> float:
    raise ZeroDivisionError("no size")


def test_an_evaluation_for_which_it_has_no_number_is_no_result() -> None:
    called = []

    def slow(a: float, b: float) -> dict[str, float]:
        called.append(a)
        return {"loss": a}

    result = run(slow, objectives={"loss": "min", "size": ("min", broken)}, budget=1)
    assert "The objective broken() raised ZeroDivisionError('no size') at" in str(result.trials[0].reason)
    assert called == []  # nothing was spent on it
    result = run(objectives={"loss": "min", "size": ("min", lambda b: math.nan)}, budget=1)
    assert result.trials[0].reason == "The evaluation measured size = nan: it must be a finite number."


@pytest.mark.parametrize(
    ("objectives", "said"),
    [
        ({"loss": "min", "size": ("min", 3)}, "The objective 'size' has 3 beside 'min': give a function"),
        ({"loss": "min", "size": ("small", size_of)}, "'size' is to be 'small': write 'min' or 'max'"),
        ({"loss": "min", "size": ("min", lambda c: c)}, "takes 'c', which is no parameter: there are a, b"),
        ({"size": ("min", size_of), "weight": ("min", weight_of)}, "are functions: one must be measured"),
        ({"loss": "min", "size": ("min", size_of, 3)}, "'size' is to be"),
        (["loss min", "size min size_of"], "'size min size_of' cannot be read"),
    ],
)
def test_what_cannot_be_known_is_refused_in_a_sentence(objectives: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Optimizer(SPACE, objectives=objectives, strategy="random")


def test_a_parameter_that_is_not_always_there_needs_a_default() -> None:
    space = {"kind": Choice(["x", "y"]), "b": Real(2.0, 3.0, when={"kind": "y"})}
    optimizer = Optimizer(space, objectives=OBJECTIVES, strategy="random")
    with pytest.raises(
        InvalidInput, match=r"The objective size_of\(\) takes 'b', which is not there: give it a default"
    ):
        optimizer.observe({"kind": "x"}, {"loss": 1.0})
    patient = Optimizer(space, objectives={"loss": "min", "size": ("min", lambda b=1.0: b)}, strategy="random")
    assert patient.observe({"kind": "x"}, {"loss": 1.0}).measured["size"] == 1.0
