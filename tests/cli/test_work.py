"""`aegisbo work`, as a user types it: one copy here; many of them, and their faults, in tests/faults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import call

import aegisbo
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.study.lock import DriverLock
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

SPACE = """
[u]
type = "real"
low = -5.0
high = 10.0

[k]
type = "int"
low = 1
high = 4
"""
MODULE = """
def squared(u, k):
    if u > 8:
        raise ValueError("too far")
    return (u - 3.0) ** 2 + k
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "work_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


NEW = ("--space", "space.toml", "--strategy", "random", "--seed", "3", "--quiet")


def test_the_study_knows_its_function_its_space_and_its_budget(folder: Path) -> None:
    output = call("work", "run.db", "work_module:squared", *NEW, "--budget", "5")
    result = aegisbo.load("run.db")
    assert "The budget is spent." in output
    assert f"best   {result.fun:.8g}" in output
    assert "study  run.db" in output
    assert result.nfev == 5
    assert "done   5 evaluations" in call("work", "run.db", "--quiet")
    assert "done   7 evaluations" in call("work", "run.db", "--quiet", "--budget", "7", "--workers", "2")
    assert replay("run.db").differences == ()
    assert {file.name for file in folder.iterdir()} - {"__pycache__"} == {"space.toml", "work_module.py", "run.db"}
    assert call("show", "run.db").startswith("The budget is spent.")
    assert {trial.state for trial in aegisbo.load("run.db").trials} <= {"done", "failed"}


def test_time_can_be_what_evaluations_cost(folder: Path) -> None:
    call("work", "run.db", "work_module:squared", *NEW[:2], "--seed", "3", "--quiet", "--cost", "time", "--budget", "6")
    result = aegisbo.load("run.db")
    assert result.optimizer.settings.cost == "time"
    assert "expected_seconds" in result.trials[5].note
    assert replay("run.db").differences == ()
    with pytest.raises(InvalidInput, match="--cost goes with --space"):
        call("work", "run.db", "--cost", "time")


def test_copies_and_minimize_continue_each_other(folder: Path) -> None:
    common = ("--space", "space.toml", "--strategy", "random", "--seed", "3", "--quiet")
    program = ("--command", "expr {k} + 1")
    call("minimize", *program, *common, "--budget", "3", "--study", "run.db", "--workers", "1")
    assert "done   4 evaluations" in call("work", "run.db", "--quiet", "--budget", "4")
    assert "done   5 evaluations" in call("minimize", *program, *common, "--budget", "5", "--study", "run.db")
    assert replay("run.db").differences == ()
    for trial in aegisbo.load("run.db").trials:
        assert trial.value == trial.params["k"] + 1


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_minimize_is_an_exit_code_of_its_own_and_the_best_is_told(folder: Path, times: int) -> None:
    (folder / "pressing.py").write_text(
        "import signal\n\ncalls = []\n\n\ndef f(u, k):\n    calls.append(u)\n"
        f"    for _ in range({times} if len(calls) == 3 else 0):\n        signal.raise_signal(signal.SIGINT)\n"
        "    return u\n"
    )
    options = ("--space", "space.toml", "--strategy", "random", "--executor", "serial", "--study", "run.db")
    output = call("minimize", "pressing:f", *options, code=130)
    assert "Stopped by Ctrl-C" in output
    assert f"best   {aegisbo.load('run.db').fun:.8g}" in output
    assert aegisbo.load("run.db").nfev == (3 if times == 1 else 2)
    sys.modules.pop("pressing")


def test_what_is_missing_is_named(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"Give either a function .* or a --command"):
        call("work", "run.db")
    with pytest.raises(InvalidInput, match=r"There is no study run.db yet: give what to minimize, and its space"):
        call("work", "run.db", "work_module:squared")
    with pytest.raises(InvalidInput, match=r"There is no study run.db yet: give a budget"):
        call("work", "run.db", "work_module:squared", *NEW)
    with pytest.raises(InvalidInput, match="--seed goes with --space"):
        call("work", "run.db", "work_module:squared", "--seed", "3")
    with pytest.raises(InvalidInput, match=r"lease is 0.0: give seconds, more than 0\.$"):
        call("work", "run.db", "work_module:squared", *NEW, "--lease", "0")
    assert not Path("run.db").exists()
    aegisbo.minimize(lambda x: float(x[0]), [(0.0, 1.0)], budget=1, study="mine.db", executor="serial")
    with pytest.raises(InvalidInput, match=r"mine.db does not say what to minimize"):
        call("work", "mine.db")


def test_a_driver_keeps_copies_out(folder: Path) -> None:
    call("work", "run.db", "work_module:squared", *NEW, "--budget", "1")
    before = len(read_events(Path("run.db")))
    with DriverLock(Path("run.db")), pytest.raises(StudyError, match="already being driven by this process"):
        call("work", "run.db", "--budget", "2")
    assert len(read_events(Path("run.db"))) == before


def test_an_evaluation_that_hangs_is_stopped_and_one_whose_worker_dies_is_repeated(folder: Path) -> None:
    Path("rough.py").write_text(
        "import os, time\n"
        "def hangs(u, k):\n    time.sleep(600)\n"
        "def dies(u, k):\n    os.kill(os.getpid(), 9)\n"
        "def lacks(u, k):\n    import no_such_module_at_all\n"
    )  # fmt: skip
    call("work", "hangs.db", "rough:hangs", *NEW, "--budget", "1", "--trial-timeout", "0.2", code=3)
    (trial,) = aegisbo.load("hangs.db").trials
    assert trial.state == "timed_out"
    call("work", "dies.db", "rough:dies", *NEW, "--budget", "1", "--retries", "1", code=3)
    (trial,) = aegisbo.load("dies.db").trials
    assert trial.state == "failed"
    assert trial.reason == "Its worker died 2 times: Its process ended by signal SIGKILL."
    assert [event.kind for event in read_events(Path("dies.db"))].count("lost") == 2
    assert "The function could not be run" in call("work", "lacks.db", "rough:lacks", *NEW, "--budget", "1", code=3)
    (trial,) = aegisbo.load("lacks.db").trials
    assert trial.state == "pending"  # that is not its fault
