"""Runs with several objectives: functions, programs, earlier results, studies that go on, and what is refused."""

from __future__ import annotations

import csv
import math
import time
from pathlib import Path
from typing import Any

import pytest

from aegisbo import Command, Result, load, minimize
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.optimizer import Trial
from aegisbo.optimizer.settings import Settings
from aegisbo.runners.work import work
from aegisbo.space import Choice, Real
from aegisbo.study import Earlier
from aegisbo.study.edit import forget, retry
from aegisbo.study.export import write
from aegisbo.study.replay import replay
from aegisbo.study.requests import add, change

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}
OBJECTIVES = {"accuracy": "max", "latency": "min"}
GIVEN: dict[str, Any] = {"objectives": OBJECTIVES, "strategy": "random", "seed": 5, "executor": "threads", "workers": 2}


def train(a: float, b: float) -> dict[str, float]:
    return {"accuracy": -((a - 1.0) ** 2), "latency": (a - 3.0) ** 2 + b, "size": b}


def run(fun: Any = train, space: Any = SPACE, budget: int = 12, **options: Any) -> Result:
    return minimize(fun, space, budget=budget, **GIVEN | options)


def numbers_on_front(trials: Any) -> set[int]:
    """By the definition."""
    points = {t.number: (-t.measured["accuracy"], t.measured["latency"]) for t in trials if t.state == "done"}
    beaten = {n for n, p in points.items() if any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points.values())}
    return set(points) - beaten


def test_a_function_that_returns_several_numbers_is_run() -> None:
    result = run()
    assert result.success
    assert {trial.number for trial in result.front} == numbers_on_front(result.trials)
    assert all(trial.measured == train(**trial.params) for trial in result.trials)


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_every_engine_takes_several_numbers(executor: str) -> None:
    result = run(budget=4, executor=executor, workers=None if executor == "serial" else 2)
    assert [trial.state for trial in result.trials] == ["done"] * 4


def test_a_study_goes_on_and_every_choice_follows_again(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    run(budget=7, study=file)
    result = run(budget=12, study=file)
    assert [trial.state for trial in result.trials] == ["done"] * 12
    assert replay(file).faithful
    read = load(file)
    assert read.front == result.front
    assert {trial.number for trial in read.front} == numbers_on_front(result.trials)


def test_points_are_added_forgotten_and_retried(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    first, *_ = run(budget=6, study=file).front
    assert forget(file, [first.number]) == (first.number,)
    other = load(file).front[0].number
    assert first.number not in {trial.number for trial in load(file).front}
    retry(file, [other])
    assert other not in {trial.number for trial in load(file).front}
    add(file, {"a": 2.0, "b": 2.5})
    with pytest.raises(InvalidInput, match="already waiting"):
        add(file, {"a": 2.0, "b": 2.5})
    result = run(budget=9, study=file)
    assert {"a": 2.0, "b": 2.5} in [trial.params for trial in result.trials]
    assert result.trials[other].state == "done"
    with pytest.raises(
        InvalidInput, match=r"is done with the value accuracy=-1, latency=3.5, size=2.5: nothing to add"
    ):
        add(file, {"a": 2.0, "b": 2.5})
    assert replay(file).faithful


@pytest.mark.long
def test_copies_share_a_study(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    settings = Settings.checked(SPACE, "random", objectives=OBJECTIVES, seed=5)
    work(train, file, settings, budget=5)
    found = work(train, file, budget=8)
    assert len(found.trials) == 8
    assert {trial.number for trial in found.front} == numbers_on_front(found.trials)
    assert replay(file).faithful


def test_a_contradiction_of_objectives_is_named(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    run(budget=3, study=file)
    with pytest.raises(StudyError, match=r"objectives is \['accuracy max', 'latency min'\] in the study and \[\] in"):
        run(budget=4, study=file, objectives=())
    with pytest.raises(StudyError, match=r"and \['accuracy min', 'latency min'\] in this call"):
        run(budget=4, study=file, objectives={"accuracy": "min", "latency": "min"})


def test_a_program_prints_its_objectives(tmp_path: Path) -> None:
    program = tmp_path / "simulate"
    program.write_text("#!/bin/sh\necho warming up\necho accuracy=$1\necho 'latency = 2.5'\necho 7\n")
    program.chmod(0o755)
    result = run(Command(f"{program} {{a}} {{b}}"), budget=3)
    assert all(trial.measured == {"accuracy": trial.params["a"], "latency": 2.5} for trial in result.trials)
    assert len(result.front) == 1


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("accuracy=0.9", "did not measure latency, which is an objective: .* or let a program print latency=..."),
        ("accuracy=0.9\nlatency=slow", "The line latency=... must be one number, but was 'slow'."),
        ("accuracy=nan\nlatency=2", "measured accuracy = nan: it must be a finite number."),
        ("0.9", "did not measure accuracy, which is an objective"),
    ],
)
def test_what_a_program_should_have_printed_is_said(tmp_path: Path, printed: str, said: str) -> None:
    out = tmp_path / "out"
    out.write_text(printed)
    result = run(Command(f"cat {out}"), budget=2)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(result.trials[0].reason)


def test_a_program_that_measures_its_objectives_may_have_limits(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("accuracy=0.9\nheat=3\nlatency=2\n")
    result = run(Command(f"cat {out}"), budget=2, limits=["heat <= 2"])
    assert result.trials[0].measured == {"accuracy": 0.9, "latency": 2.0, "heat": 3.0}
    assert result.front == ()
    assert not result.success


def wrong_name(a: float, b: float) -> dict[str, float]:
    return {"acuracy": a, "latency": b}


def only_one(a: float, b: float) -> dict[str, float]:
    return {"accuracy": a}


def one_number(a: float, b: float) -> float:
    return a


@pytest.mark.parametrize("fun", [wrong_name, only_one, one_number])
def test_a_function_that_never_returns_all_objectives_is_given_up_after_five(fun: Any) -> None:
    result = run(fun, budget=30, workers=1)
    assert len(result.trials) == 5
    assert "The first 5 evaluations failed in the same way" in result.message
    assert "return {'accuracy': ..., 'latency': ...}" in result.message
    assert result.front == ()


def test_nan_in_one_of_two_makes_an_evaluation_invalid_and_the_run_goes_on() -> None:
    def sometimes(a: float, b: float) -> dict[str, float]:
        return {**train(a, b), "latency": math.nan if a < 0 else 1.0}

    result = run(sometimes)
    bad = [trial for trial in result.trials if trial.params["a"] < 0]
    assert bad
    assert all(trial.state == "invalid" and "latency = nan" in str(trial.reason) for trial in bad)
    assert {trial.number for trial in result.front} == numbers_on_front(result.trials)


def test_a_constant_objective_leaves_the_best_of_the_other() -> None:
    result = run(lambda a, b: {"accuracy": 1.0, "latency": a})
    assert [trial.params["a"] for trial in result.front] == [min(trial.params["a"] for trial in result.trials)]


def test_what_is_about_one_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"target is 0\.5, but there are several objectives: leave it out"):
        run(target=0.5)
    with pytest.raises(InvalidInput, match="target is 1, but there are several objectives"):
        work(train, tmp_path / "new.db", Settings.checked(SPACE, "random", objectives=OBJECTIVES), target=1)
    assert not list(tmp_path.iterdir())
    file = tmp_path / "run.db"
    run(budget=3, study=file)
    with pytest.raises(InvalidInput, match="target is 2, but there are several objectives"):
        change(file, target=2)


def test_callbacks_see_the_front() -> None:
    seen: list[int] = []

    def look(trial: Trial, result: Result) -> None:
        seen.append(len(result.front))
        if len(seen) == 4:
            raise StopIteration("enough")

    result = run(callbacks=[look], workers=1)
    assert len(result.trials) == 4
    assert seen[0] == 1
    assert result.message == "enough"


def test_progress_tells_how_many_are_on_the_front(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(progress=True)
    said = capsys.readouterr().err
    assert "Optimizing accuracy max, latency min over 2 parameters" in said
    assert f"12/12  {len(result.front)} on the front" in said


def test_conditions_constraints_limits_noise_and_failures_go_together() -> None:
    space = {"kind": Choice(["x", "y"]), "a": Real(-5.0, 10.0), "b": Real(2.0, 3.0, when={"kind": "y"})}

    def measure(kind: str, a: float, b: float = 2.0) -> dict[str, float]:
        if a > 8.0:
            raise ValueError("too far")
        return train(a, b)

    result = run(measure, space, budget=24, constraints=["a > -4"], limits=["latency <= 20", "size <= 2.9"], noisy=True)
    assert all(trial.params["a"] > -4 for trial in result.trials)
    assert {trial.state for trial in result.trials} == {"done", "failed"}
    fair = [t for t in result.trials if t.state == "done" and t.measured["latency"] <= 20 and t.measured["size"] <= 2.9]
    assert {trial.number for trial in result.front} == numbers_on_front(fair)
    assert "the front is that of the values measured" in result.message


def test_results_from_elsewhere_count(tmp_path: Path) -> None:
    pairs = [({"a": 1.0, "b": 2.0}, train(1.0, 2.0)), ({"a": 3.0, "b": 2.0}, {"accuracy": math.nan, "latency": 1.0})]
    file = tmp_path / "run.db"
    result = run(budget=3, observed=pairs, study=file)
    assert [trial.state for trial in result.optimizer.observed] == ["done", "invalid"]
    assert len(run(budget=4, observed=pairs, study=file).optimizer.observed) == 2  # not added again
    assert replay(file).faithful
    with pytest.raises(InvalidInput, match=r"observed, entry 0: There are several objectives, got the value 0\.5"):
        run(observed=[({"a": 1.0, "b": 2.0}, 0.5)])
    others = [({"a": 1.0, "b": 2.0}, {"accuracy": 9.0, "latency": 1.0})]
    with pytest.raises(
        StudyError, match=r"observed point 0 is .* with the value {'accuracy': -0.0, .*} in the study and"
    ):
        run(budget=4, observed=others, study=file)


def test_earlier_runs_and_tables_are_learned_from(tmp_path: Path) -> None:
    study, exported, table = tmp_path / "old.db", tmp_path / "old.csv", tmp_path / "mine.csv"
    old = run(budget=6, study=study, seed=1)
    with exported.open("w", encoding="utf-8", newline="") as out:
        write(study, "csv", out)
    with table.open("w", encoding="utf-8", newline="") as out:
        rows = [{**trial.params, **trial.measured} for trial in old.trials]
        writer = csv.DictWriter(out, ["a", "b", "accuracy", "latency"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    for source in (study, exported, table, old):
        observed = run(budget=1, observed=source).optimizer.observed
        told = [{name: trial.measured[name] for name in OBJECTIVES} for trial in observed]
        assert told == [{name: trial.measured[name] for name in OBJECTIVES} for trial in old.trials]
    new = tmp_path / "new.db"
    run(budget=1, observed=study, study=new)
    assert len(run(budget=2, observed=[study, exported], study=new).optimizer.observed) == 6  # each once


def test_a_table_without_an_objective_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("a,b,accuracy\n1,2,3\n")
    with pytest.raises(
        InvalidInput, match=r"has no column 'latency', only a, b, accuracy: give each objective a column"
    ):
        run(observed=table)
    study = tmp_path / "old.db"
    run(budget=3, study=study)
    with pytest.raises(InvalidInput, match="3 because it has several objectives and no single value"):
        minimize(one_number, SPACE, budget=3, observed=Earlier(study), executor="serial")
    single = tmp_path / "single.db"
    minimize(one_number, SPACE, budget=3, study=single, executor="serial")
    with pytest.raises(InvalidInput, match="3 because accuracy, which is an objective, was not measured"):
        run(observed=single)


def slow(a: float, b: float) -> dict[str, float]:
    time.sleep(0.001 * (a + 6.0))
    return train(a, b)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"noisy": True},
        {"cost": "time", "fun": slow},
        {"timeout": 60, "fun": slow},
        {"constraints": ["a > -1"], "limits": ["latency <= 10"]},
        {"strategy": "thompson"},
        {"preset": "paper"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_model_chooses_with_whatever_goes_with_one_number(tmp_path: Path, options: dict[str, Any]) -> None:
    file, given = tmp_path / "run.db", {"strategy": "aegis", "n_initial": 4, **options}
    run(budget=5, study=file, **given)
    result = run(budget=8, study=file, **given)
    assert [trial.state for trial in result.trials] == ["done"] * 8
    assert {trial.note["move"] for trial in result.trials} - {"initial", "random"}
    assert all(set(trial.note["mean"]) == set(OBJECTIVES) for trial in result.trials if "mean" in trial.note)
    assert replay(file).faithful
