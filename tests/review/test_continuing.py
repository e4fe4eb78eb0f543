"""The call that the report prints: it goes on with the study, and asks for all that the first call asked for."""

from __future__ import annotations

import ast
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aegisbo import Choice, Command, Int, Real, load, minimize
from aegisbo.cli import app
from aegisbo.events import Event
from aegisbo.review.continuing import calls_of
from aegisbo.review.record import Record
from aegisbo.runners.work import work
from aegisbo.strategies import Aegis
from aegisbo.study.reading import read_events

PROGRAM = f"{shlex.quote(sys.executable)} -c 'import sys; print(float(sys.argv[1]) ** 2)' {{x}}"
FEW: dict[str, Any] = {"budget": 4, "executor": "serial"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squares_of_mine.py").write_text("def square(x):\n    return x**2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def settings(study: str) -> Any:
    return next(event.body["optimizer"] for event in read_events(Path(study)) if event.kind == "created")


def opened() -> list[Event]:
    return [event for event in read_events(Path("run.db")) if event.kind == "opened"]


def continued(**names: Any) -> list[str]:
    """Run the call that is printed; the one that it makes, but for the budget and imports, must be the first one.

    With a new study, it begins a run with the same settings.
    """
    before = load("run.db")
    call, show = calls_of(Record.of_study("run.db"))
    exec(call, dict(names))
    first, last = (event.body["call"] for event in (opened()[0], opened()[-1]))
    assert last == {**first, "budget": 8, "workers": 1}
    assert load("run.db").nfev == 8
    assert load("run.db").trials[:4] == before.trials
    assert show == "aegisbo show run.db"
    exec(call.replace("'run.db'", "'anew.db'"), dict(names))
    assert settings("anew.db") == settings("run.db")
    return call.splitlines()


def options_of(call: str) -> dict[str, Any]:
    """The options that a call of `minimize` names, as Python reads them."""
    (made,) = (node for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Call) and node.keywords)
    return {str(each.arg): ast.literal_eval(each.value) for each in made.keywords}


def test_a_program_is_run_again_with_all_limits() -> None:
    scope = {"trial_timeout": 60.0, "timeout": 600.0, "retries": 5, "target": -1.0, "give_up_after": None}
    minimize(Command(PROGRAM), {"x": Real(1, 2)}, study="run.db", strategy="random", **scope, **FEW)
    lines = continued()
    assert {f"    {name}={value}," for name, value in scope.items()} <= {*lines}
    assert f"    aegisbo.Command({PROGRAM!r})," in lines


def test_a_value_file_is_part_of_it() -> None:
    program = f'{shlex.quote(sys.executable)} -c \'open("{{folder}}/v", "w").write("{{x}}")\''
    minimize(Command(program, "{folder}/v"), {"x": Real(1, 2)}, study="run.db", **FEW)
    continued()


def test_a_function_that_can_be_imported_is() -> None:
    from squares_of_mine import square  # type: ignore[import-not-found]

    minimize(square, {"x": Int(-50, 50, log=False)}, study="run.db", trial_timeout=60.0, **FEW)
    lines = continued()
    assert "from squares_of_mine import square" in lines
    assert "    trial_timeout=60.0," in lines


def test_all_settings_are_those_of_the_study() -> None:
    def inside(**params: Any) -> Any:
        return params["x"], {"latency": 1.0}

    inside.__module__ = "__main__"  # as in a script
    space = {
        "x": Real(-5, 5),
        "y": Real(0.1, 9, log=True),
        "kind": Choice(["a", None, True, 3]),
        "of_a": Int(0, 40, step=4, when={"kind": "a"}),
    }
    decided = {"strategy": Aegis(gamma=0.25), "preset": None, "n_initial": 3, "seed": 11, "maximize": True}
    decided |= {"noisy": True, "constraints": ["x < y"], "limits": ["latency <= 5"], "cost": "time"}
    decided["initial"] = [{"x": -1.0, "y": 1.0, "kind": None}]
    minimize(inside, space, study="run.db", **decided, **FEW)
    continued(inside=inside)


@pytest.mark.parametrize(
    "given", [{}, {"stop_early": "ranks", "steps": 3, "resumable": True}, {"steps": 2.5}, {"resumable": True}]
)
def test_what_is_about_stopping_is_named_if_it_was_given(given: dict[str, Any]) -> None:
    from squares_of_mine import square

    minimize(square, {"x": Real(1, 2)}, study="run.db", strategy="random", seed=7, **given, **FEW)
    usual = {"budget": 8, "workers": 1, "executor": "serial", "study": "run.db", "strategy": "random", "seed": 7}
    assert options_of("\n".join(continued())) == {**usual, **given}


def test_the_usual_rule_is_called_by_its_name() -> None:
    from squares_of_mine import square

    minimize(square, {"x": Real(1, 2)}, study="run.db", stop_early=True, **FEW)
    assert "    stop_early='gain'," in continued()


def test_several_objectives_are_given_again_with_their_functions() -> None:
    def train(x: float) -> dict[str, float]:
        return {"accuracy": -(x**2)}

    def size(x: float) -> float:
        return abs(x)

    train.__module__ = "__main__"
    objectives = {"accuracy": "max", "size": ("min", size)}
    minimize(train, {"x": Real(-1, 2)}, study="run.db", objectives=objectives, limits=["size <= 1"], seed=1, **FEW)
    lines = continued(train=train, size=size)
    assert "    objectives={'accuracy': 'max', 'size': ('min', size)}," in lines


def test_a_lambda_is_written_out() -> None:
    minimize(lambda x: x[0] ** 2 + x[1], [(0, 1), (0, 2)], study="run.db", seed=2, strategy="random", **FEW)
    assert "    lambda x: x[0] ** 2 + x[1]," in continued()


def test_a_budget_that_is_not_spent_stays() -> None:
    minimize(lambda x: x, {"x": Real(1, 2)}, budget=9, target=99.0, executor="serial", study="run.db")
    assert load("run.db").nfev == 1
    assert "budget=9," in calls_of(Record.of_study("run.db"))[0]


@pytest.mark.long
def test_copies_go_on_as_copies() -> None:
    from squares_of_mine import square

    minimize(square, {"x": Real(-1, 1)}, study="run.db", strategy="random", **FEW)
    work(square, "run.db", budget=6, workers=1, trial_timeout=60.0, give_up_after=None)
    command, _ = calls_of(Record.of_study("run.db"))
    assert command == "aegisbo work run.db --budget 12 --trial-timeout 60.0 --give-up-after 0"
    outcome = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert load("run.db").nfev == 12
