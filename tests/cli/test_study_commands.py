"""`aegisbo minimize`, `show`, `replay` and `export`, as a user types them."""

from __future__ import annotations

import csv
import inspect
import io
import json
import logging
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from commands import call
from sealed import seal
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app
from aegisbo.cli.arguments import as_ranges, numbers_in
from aegisbo.cli.minimize import EXAMPLE_SPACE
from aegisbo.errors import AegisError, EvaluationFailed, InvalidInput, StudyError
from aegisbo.study.reading import read_events

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


def minimized(*extra: str, code: int = 0) -> str:
    options = ("--space", "space.toml", "--seed", "3", "--strategy", "random")
    common = (*options, "--executor", "serial", "--no-raise-errors")
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


def test_failures_are_retried_and_trials_forgotten(folder: Path) -> None:
    minimized("mine:f", "--budget", "12", "--study", "run.db")
    failed = [trial.number for trial in aegisbo.load("run.db").trials if trial.state == "failed"]
    assert len(failed) > 1
    pending = call("retry", "run.db")
    assert f"{len(failed)} trials: " in pending
    assert numbers_in(pending.split(":")[1].split(" are ")[0], "the output") == failed
    (folder / "mine.py").write_text("def f(x, kind): return 1.0\n")
    first, second, *_ = (trial.number for trial in aegisbo.load("run.db").trials if trial.state == "done")
    assert call("retry", "run.db", str(first)).startswith(f"Trial {first} is pending again: ")
    assert "Nothing to retry" in call("retry", "run.db")
    assert call("forget", "run.db", str(second)) == (
        f"Trial {second} is forgotten: neither results nor evaluations count any more.\n"
    )
    assert aegisbo.load("run.db").trials[second].state == "forgotten"
    minimized("mine:f", "--budget", "12", "--study", "run.db")
    assert aegisbo.load("run.db").nfev == 12
    assert len(aegisbo.load("run.db").trials) == 13
    assert "All 13 decisions follow" in call("replay", "run.db")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["forget", "run.db", "3-1"], "NUMBERS '3-1' runs backwards at '3-1': write 1-3"),
        (["forget", "run.db", "1;2"], "NUMBERS '1;2' cannot be read at '1;2'"),
        (["forget", "run.db", "1-9"], "Trial 4 was never asked for: 4 trials are known"),
        (["retry", "run.db", "7"], "Trial 7 was never asked for: 4 trials are known"),
    ],
)
def test_numbers_that_cannot_be_used_get_one_sentence(folder: Path, arguments: list[str], message: str) -> None:
    minimized("mine:f", "--budget", "4", "--study", "run.db")
    before = read_events(Path("run.db"))
    with pytest.raises(AegisError, match=message):
        call(*arguments)
    assert read_events(Path("run.db")) == before


def test_numbers_in_words_are_read_back() -> None:
    for numbers in ([3], [3, 4], [3, 5, 8, 9, 10], [0, 1, 2, 7]):
        assert numbers_in(as_ranges(numbers), "the text") == numbers
    assert as_ranges([3, 5, 8, 9, 10]) == "3, 5, 8-10"


def test_an_exception_is_raised_where_it_can_be_debugged_and_the_same_command_goes_on(folder: Path) -> None:
    arguments = ("minimize", "mine:f", "--space", "space.toml", "--seed", "3", "--strategy", "random", "--budget", "12")
    with pytest.raises(ValueError, match="too far"):
        call(*arguments, "--executor", "serial", "--study", "run.db")
    assert aegisbo.load("run.db").trials[-1].state == "pending"
    with pytest.raises(EvaluationFailed, match=r"failed: ValueError: too far\. It is still pending"):
        call(*arguments, "--executor", "threads", "--raise-errors", "--study", "run.db")
    call(*arguments, "--executor", "threads", "--study", "run.db")
    assert {trial.state for trial in aegisbo.load("run.db").trials} == {"done", "failed"}


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
    arguments = (
        "minimize",
        "mine:f",
        "--space",
        "space.toml",
        "--seed",
        "3",
        "--executor",
        "serial",
        "--no-raise-errors",
        "--noisy",
    )
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
    seal(Path("run.db"))
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


def test_the_end_of_a_run_tells_failures_by_reason_and_what_to_type_next(folder: Path) -> None:
    def lines(*extra: str) -> list[str]:
        return minimized("mine:f", "--budget", "20", *extra).splitlines()

    shown = lines("--study", "run.db")
    ((reason, count),) = aegisbo.load("run.db").failures.items()
    assert count > 1
    assert reason == "ValueError: too far"
    place = shown.index(f"done   20 evaluations, {count} of them without a value:")
    assert shown[place + 1] == f"       {count} x ValueError: too far"
    assert shown[-2].startswith("next   aegisbo show run.db --failed ")
    assert shown[-1].startswith("       aegisbo retry run.db ")
    kept = "--study FILE keeps their output and tracebacks"
    assert lines()[-1] == f"next   --raise-errors shows the traceback of the first failure; {kept}"
    common = ("--space", "space.toml", "--command", "false", "--budget", "1", "--strategy", "random", "--workers", "1")
    advice = call("minimize", *common, code=3).splitlines()[-1]
    assert advice == f"next   --executor serial shows the traceback of the first failure; {kept}"


def test_what_was_given_already_is_not_advised(folder: Path) -> None:
    Path("nowhere.py").write_text("def f(**params):\n    return float('nan')\n")
    common = ("--space", "space.toml", "--budget", "1", "--strategy", "random", "--executor", "serial")
    shown = call("minimize", "nowhere:f", *common, code=3).splitlines()
    assert shown[-1] == "next   --study FILE keeps their output and tracebacks"


def test_the_log_of_a_run_that_failed_speaks_no_python(folder: Path) -> None:
    common = ("--space", "space.toml", "--budget", "1", "--strategy", "random", "--executor", "serial")
    arguments = ["minimize", "--command", "false", *common, "--no-raise-errors", "--study", "run.db"]
    outcome = CliRunner().invoke(app, arguments)
    assert "gave no value: 1 x The program" in outcome.stderr
    assert "executor=" not in outcome.output
    assert "result." not in outcome.output


def test_where_standard_error_is_no_terminal_a_run_writes_a_log(folder: Path) -> None:
    def told(*extra: str) -> list[str]:
        common = ("--space", "space.toml", "--seed", "3", "--executor", "serial", "--strategy", "random")
        arguments = ["minimize", "mine:f", "--budget", "20", "--no-raise-errors", *common, *extra]
        return CliRunner().invoke(app, arguments).stderr.splitlines()

    first, warning, *_, last = told()
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
    assert re.match(time + "Minimizing over 2 parameters with 1 worker ", first)
    assert re.match(time + r"Trial \d+ gave no value: ValueError: too far", warning)
    assert re.match(
        time + r"The budget is spent\. \d+ of 20 evaluations gave no value: \d+ x ValueError: too far", last
    )
    assert [line for line in told("--quiet") if "Minimizing" in line or "spent" in line] == []
    assert not logging.getLogger("aegisbo").handlers


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
        ([":f", "--space", "space.toml"], "':f' names no function: write module:function"),
        ([".mine:f", "--space", "space.toml"], "'.mine:f' is relative to nothing: write the whole name"),
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
    with pytest.raises(InvalidInput, match=r"cannot be imported: .*'no_such_module_at_all' \(.*broken.py, line 1\)"):
        call("minimize", "broken:f", "--space", "space.toml")
    with pytest.raises(InvalidInput, match=r"'mine\.py:f' names a file: write mine:f"):
        call("minimize", "mine.py:f", "--space", "space.toml")


@pytest.mark.parametrize("command", ["show", "replay", "export", "retry", "forget"])
def test_a_file_that_is_not_there_is_said_so(folder: Path, command: str) -> None:
    with pytest.raises(AegisError, match=r"no study file nothing\.db"):
        call(command, "nothing.db", *["3"] * (command == "forget"))
    assert not Path("nothing.db").exists()


@pytest.mark.parametrize("command", [("export", "run.db"), ("report", "run.db")])
@pytest.mark.parametrize("file", ["run.db", "other.db", "link.csv"])
def test_no_command_writes_over_a_study(folder: Path, command: tuple[str, ...], file: str) -> None:
    minimized("mine:f", "--budget", "4", "--study", "run.db")
    shutil.copy("run.db", "other.db")
    Path("link.csv").symlink_to("other.db")
    before = Path("other.db").read_bytes()
    with pytest.raises(InvalidInput, match=rf"^{file} is a study, which would be lost: name another file\.$"):
        call(*command, "-o", file)
    assert len(read_events(Path("run.db"))) > 5
    assert Path("other.db").read_bytes() == before


def test_a_study_that_is_called_like_its_page_is_not_written_over(folder: Path) -> None:
    minimized("mine:f", "--budget", "4", "--study", "run.html")
    with pytest.raises(InvalidInput, match=r"^run\.html is a study"):
        call("report", "run.html")
    assert read_events(Path("run.html"))


def test_an_export_of_nothing_leaves_what_was_there(folder: Path) -> None:
    Path("keep.csv").write_text("mine")
    with pytest.raises(StudyError, match=r"There is no study file nosuch\.db"):
        call("export", "nosuch.db", "-o", "keep.csv")
    assert Path("keep.csv").read_text() == "mine"


@pytest.mark.parametrize("command", ["report", "serve", "show", "export"])
@pytest.mark.parametrize("name", [".", "/", ""])
def test_a_folder_is_no_study(folder: Path, command: str, name: str) -> None:
    with pytest.raises(StudyError, match=r"is a directory: name a file|There is no study file"):
        call(command, name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minimize", "--budget", "abc"], "'--budget': 'abc' is no whole number from 1 on."),
        (["minimize", "--budget", "0"], "'--budget': '0' is no whole number from 1 on."),
        (["minimize", "--seed", "1.5"], "'--seed': '1.5' is no whole number from 0 on."),
        (["minimize", "--timeout", "1m"], "'--timeout': '1m' is no number."),
        (["minimize", "--target", "nan"], "'--target': 'nan' is no number."),
        (["show", "run.db", "--trial", "x"], "'--trial': 'x' is no whole number."),
        (["serve", "run.db", "--port", "99999"], "'--port': '99999' is no whole number from 0 to 65535."),
        (["simulate", "--suggestion", "-1"], "'--suggestion': '-1' is no number from 0 on."),
    ],
)
def test_a_number_that_cannot_be_read_is_named(arguments: list[str], message: str) -> None:
    assert f"Invalid value for {message}" in " ".join(call(*arguments, code=2).replace("│", " ").split())


def test_time_may_be_the_cost(folder: Path) -> None:
    common = (
        "minimize",
        "mine:f",
        "--space",
        "space.toml",
        "--budget",
        "4",
        "--executor",
        "serial",
        "--study",
        "run.db",
    )
    with pytest.raises(InvalidInput, match="cost is 'money': give 'time'"):
        call(*common, "--cost", "money")
    call(*common, "--no-raise-errors", "--cost", "time")
    assert aegisbo.load("run.db").optimizer.settings.cost == "time"
