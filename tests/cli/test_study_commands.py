"""`aegisbo minimize`, `show`, `replay`, `export` and `demo`, as a user types them."""

from __future__ import annotations

import csv
import inspect
import io
import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app, demo
from aegisbo.cli.minimize import EXAMPLE_SPACE
from aegisbo.errors import AegisError, InvalidInput, StudyError

SPACE = """
[x]
type = "real"
low = -5.0
high = 10.0

[kind]
type = "choice"
values = ["a", "b"]
"""


def objective(x: float, kind: str) -> float:
    if x > 8:
        raise ValueError("too far")
    return (x - 3.0) ** 2 + (kind == "b")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder: a space file and a module."""
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "mine.py").write_text(f"{inspect.getsource(objective)}\nf = objective\nconstant = 3\n")
    (tmp_path / "broken.py").write_text("import no_such_module_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def minimized(*extra: str, code: int = 0) -> str:
    common = ("--space", "space.toml", "--seed", "3", "--executor", "serial", "--strategy", "random")
    return call("minimize", *extra, *common, code=code)


def test_a_run_is_recorded_shown_replayed_and_exported(folder: Path) -> None:
    output = minimized("mine:f", "--budget", "12", "--study", "run.db")
    result = aegisbo.load("run.db")
    assert result.nfev == 12
    assert f"best   {result.fun:.8g}" in output
    assert objective(**result.x) == result.fun
    shown = call("show", "run.db", "--last", "5")
    assert "12 trials" in shown
    assert f"best {result.fun:.8g} in trial" in shown
    assert "All 12 decisions follow" in call("replay", "run.db")
    rows = list(csv.DictReader(io.StringIO(call("export", "run.db"))))
    assert [int(row["number"]) for row in rows] == list(range(12))
    for row in rows:
        if row["state"] == "done":
            assert float(row["value"]) == objective(float(row["param_x"]), row["param_kind"])
        else:
            assert float(row["param_x"]) > 8
            assert "too far" in row["reason"]
    call("export", "run.db", "--to", "json", "-o", "run.json")
    document = json.loads(Path("run.json").read_text())
    assert [trial["params"] for trial in document["trials"]] == [dict(t.params) for t in result.trials]


def test_the_same_command_continues_and_another_is_refused(folder: Path) -> None:
    minimized("mine:f", "--budget", "5", "--study", "run.db")
    minimized("mine:f", "--budget", "9", "--study", "run.db")
    assert aegisbo.load("run.db").nfev == 9
    minimized("mine:f", "--budget", "9", "--study", "other.db")
    assert [t.params for t in aegisbo.load("run.db").trials] == [t.params for t in aegisbo.load("other.db").trials]
    with pytest.raises(StudyError, match="seed is 3 in the study and 4 in this call"):
        call("minimize", "mine:f", "--space", "space.toml", "--seed", "4", "--strategy", "random", "--study", "run.db")


def test_a_changed_function_needs_anyway(folder: Path) -> None:
    minimized("--command", "echo {x}", "--budget", "2", "--study", "run.db")
    with pytest.raises(StudyError, match=r"run.db was made for command, whose source has changed.*--anyway"):
        minimized("--command", "echo 1{x}", "--budget", "3", "--study", "run.db")
    minimized("--command", "echo 1{x}", "--budget", "3", "--study", "run.db", "--anyway")
    assert aegisbo.load("run.db").nfev == 3


def test_the_best_of_noisy_values_is_said_to_be_a_posterior_mean(folder: Path) -> None:
    arguments = ("minimize", "mine:f", "--space", "space.toml", "--seed", "3", "--executor", "serial", "--noisy")
    output = call(*arguments, "--budget", "9", "--study", "run.db")
    result = aegisbo.load("run.db")
    said = "x has the best posterior mean of all evaluated points, and fun is that mean"
    assert said in output
    assert f"best   {result.fun:.8g}" in output
    assert result.best is not None
    assert result.best.value != result.fun
    shown = call("show", "run.db")
    assert said in " ".join(shown.split())
    assert f"best {result.fun:.8g} in trial {result.best.number}: x = {result.x['x']:.6g}" in shown
    assert "All 9 decisions follow" in call("replay", "run.db")
    with pytest.raises(StudyError, match="noisy is True in the study and False in this call"):
        call(*arguments[:-1], "--study", "run.db")


def test_a_replay_that_comes_out_differently_says_where_and_fails(folder: Path) -> None:
    minimized("mine:f", "--budget", "6", "--study", "run.db")
    with sqlite3.connect("run.db") as connection:
        body = json.loads(
            connection.execute("SELECT body FROM events WHERE kind = 'asked' AND number = 4").fetchone()[0]
        )
        body["params"]["x"] = 1.25
        connection.execute("UPDATE events SET body = ? WHERE kind = 'asked' AND number = 4", (json.dumps(body),))
    connection.close()
    output = call("replay", "run.db", code=4)
    assert "1 of 6 decisions" in output
    assert "trial 4" in output
    assert "1.25" in output


def test_any_program_will_do(folder: Path) -> None:
    program = "awk -v x={x} 'BEGIN { print (x - 3)^2 }'"
    minimized("--command", program, "--budget", "4", "--study", "run.db")
    for trial in aegisbo.load("run.db").trials:
        assert trial.value == pytest.approx((trial.params["x"] - 3.0) ** 2, rel=1e-4)


def test_a_run_without_a_single_value_has_an_exit_code_of_its_own(folder: Path) -> None:
    output = minimized("--command", "false", "--budget", "3", code=3)
    assert "3 of them without a value" in output


def test_the_example_space_can_be_used_as_it_is_printed(folder: Path) -> None:
    printed = call("minimize", "--example-space")
    assert printed == EXAMPLE_SPACE
    Path("space.toml").write_text(printed)
    minimized("--command", "echo {units}", "--budget", "2", "--study", "run.db")
    assert set(aegisbo.load("run.db").trials[0].params) == {"lr", "units", "act"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine:f"], "--space is missing"),
        (["--space", "space.toml"], "either a function"),
        (["mine:f", "--command", "true", "--space", "space.toml"], "either a function"),
        (["mine", "--space", "space.toml"], "'mine' names no function: write module:function"),
        (["mine:g", "--space", "space.toml"], "no function 'g'"),
        (["mine:constant", "--space", "space.toml"], "no function 'constant'"),
        (["theirs:f", "--space", "space.toml"], "no module 'theirs'"),
        (["mine:f", "--space", "nowhere.toml"], "cannot be read: No such file"),
        (["mine:f", "--space", "mine.py"], "is not TOML"),
        (["mine:f", "--space", "space.toml", "--value-file", "x"], "goes with --command"),
        (["mine:f", "--space", "space.toml", "--strategy", "aegiss"], "did you mean 'aegis'"),
        (["mine:f", "--space", "space.toml", "--executor", "thread"], "executor is 'thread'"),
        (["mine:f", "--space", "space.toml", "--timeout", "-1"], "timeout is -1.0: give seconds, more than 0"),
        (["--command", "./nowhere {x}", "--space", "space.toml"], "There is no program './nowhere' in /"),
    ],
)
def test_bad_input_gets_one_clear_sentence(folder: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call("minimize", *arguments)


def test_a_module_that_cannot_import_something_itself_shows_its_own_error(folder: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        call("minimize", "broken:f", "--space", "space.toml")


@pytest.mark.parametrize("command", ["show", "replay", "export"])
def test_a_file_that_is_not_there_is_said_so(folder: Path, command: str) -> None:
    with pytest.raises(AegisError, match=r"no study file nothing\.db"):
        call(command, "nothing.db")
    assert not Path("nothing.db").exists()


def test_the_demo_ends_with_commands_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "BUDGET", 5)
    monkeypatch.setattr(demo, "WORKERS", 2)
    output = call("demo")
    assert "done   5 evaluations" in output
    study = output.split("study  ")[1].split("\n")[0].strip()
    assert aegisbo.load(study).nfev == 5
    for line in output[output.index("What to type next") :].splitlines():
        if line.strip().startswith("aegisbo "):
            call(line.split()[1], "--help")
