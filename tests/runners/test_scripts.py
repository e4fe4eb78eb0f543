"""`minimize` in scripts of their own: what a script defines, Ctrl-C once and twice, and progress on a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aegisbo import load
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long
PATIENCE = 120.0

DEFINITIONS = """
print("once")
import functools, sys
import aegisbo

OFFSET = 3.0

def plain(x):
    return helper(x) + OFFSET

def helper(x):
    return float((x ** 2).sum())

class Callable:
    def __call__(self, x):
        return plain(x)

def scaled(factor, x):
    return factor * plain(x)

def closure(factor):
    return lambda x: factor * plain(x)

for function in (plain, lambda x: plain(x), Callable(), functools.partial(scaled, 1.0), closure(1.0)):
    result = aegisbo.minimize(function, [(-5, 10), (2, 3)], budget=3, workers=2, seed=1, executor=sys.argv[1])
    print([trial.value == plain(trial.x) for trial in result.trials])
"""


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_whatever_a_script_defines_can_be_evaluated_and_the_script_is_not_run_again(
    tmp_path: Path, executor: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(DEFINITIONS)
    done = subprocess.run([sys.executable, script, executor], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["once", *["[True, True, True]"] * 5]


# Each evaluation writes a line when it begins and one when it ends, which it does once the gate is open.
WATCHED = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
import aegisbo

folder, executor, budget = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def note(what):
    with open(folder / "log", "a") as log:
        log.write(f"{what}\\n")

def gated(x):
    note("begins")
    while not (folder / "gate").exists():
        time.sleep(0.01)
    time.sleep(0.02)
    note("ends")
    return float((x ** 2).sum())

if __name__ == "__main__":
    workers = 1 if executor == "serial" else 2
    if executor == "executor":
        executor = ProcessPoolExecutor(2, get_context("spawn"))
    result = aegisbo.minimize(gated, [(-5, 10), (2, 3)], budget=budget, workers=workers, seed=1, strategy="random",
                              executor=executor, study=folder / "run.db")
    print(result.nfev, result.success, result.message)
    if not isinstance(executor, str):
        executor.shutdown()
"""


class Watched:
    """A run in a process of its own, in a process group of its own, as a shell starts it."""

    def __init__(self, folder: Path, executor: str, budget: int = 8) -> None:
        self.folder = folder
        (folder / "script.py").write_text(WATCHED)
        command = [sys.executable, str(folder / "script.py"), str(folder), executor, str(budget)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, start_new_session=True, **pipes)

    def wait_for(self, what: str, count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.counted(what) < count:
            assert time.monotonic() < deadline, self.process.communicate()
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.005)

    def counted(self, what: str) -> int:
        log = self.folder / "log"
        return log.read_text().split().count(what) if log.exists() else 0

    def press_ctrl_c(self) -> None:
        """A terminal sends the signal to the whole process group in its foreground."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[str, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        return out.strip(), err


def assert_finishes(folder: Path, budget: int) -> None:
    (folder / "gate").touch()
    out, err = Watched(folder, "threads", budget).end()
    assert (out, err) == (f"{budget} True The budget is spent.", "")
    result = load(folder / "run.db")
    assert [trial.number for trial in result.trials] == list(range(budget))
    assert all(trial.state == "done" for trial in result.trials)
    assert replay(folder / "run.db").faithful


@pytest.mark.parametrize("executor", ["processes", "threads", "serial"])
def test_the_first_ctrl_c_lets_what_is_running_finish(tmp_path: Path, executor: str) -> None:
    run = Watched(tmp_path, executor)
    running = 1 if executor == "serial" else 2
    run.wait_for("begins", running)
    run.press_ctrl_c()
    assert run.process.stderr is not None
    said = run.process.stderr.readline()
    assert said == "Stopping once running evaluations finish. Ctrl-C again stops now.\n"
    (tmp_path / "gate").touch()
    out, err = run.end()
    assert (out, err) == (f"{running} False Stopped by Ctrl-C.", "")
    assert load(tmp_path / "run.db").message == "Stopped by Ctrl-C."
    assert_finishes(tmp_path, 8)
    assert run.counted("begins") == run.counted("ends") == 8  # nothing was lost, nothing done twice


@pytest.mark.parametrize("executor", ["processes", "threads", "serial"])
def test_the_second_ctrl_c_ends_the_run_now(tmp_path: Path, executor: str) -> None:
    run = Watched(tmp_path, executor)
    running = 1 if executor == "serial" else 2
    run.wait_for("begins", running)
    run.press_ctrl_c()
    assert run.process.stderr is not None
    run.process.stderr.readline()
    run.press_ctrl_c()
    out, err = run.end()
    assert (out, err) == ("0 False Stopped by Ctrl-C, without waiting for what was running.", "")
    result = load(tmp_path / "run.db")
    assert result.message == "Stopped by Ctrl-C, without waiting for what was running."
    assert [trial.state for trial in result.trials] == ["pending"] * running
    assert_finishes(tmp_path, 8)
    assert run.counted("ends") == 8
    assert run.counted("begins") == 8 + running


def test_ctrl_c_that_reaches_the_processes_of_an_executor_costs_their_evaluations_only(tmp_path: Path) -> None:
    run = Watched(tmp_path, "executor")
    run.wait_for("begins", 2)
    run.press_ctrl_c()
    out, _ = run.end()
    assert out == "0 False Stopped by Ctrl-C."
    assert [trial.state for trial in load(tmp_path / "run.db").trials] == ["pending"] * 2
    assert_finishes(tmp_path, 8)


SHOWN = """
import sys
import aegisbo

import random, time

def moody(x):
    if x[0] > 8:
        time.sleep(1.0)  # the line is drawn four times a second
        raise ValueError("no")
    print("hello\\n", end="")  # one write: two threads do not mix their lines
    return 1.5

random.seed(3)

options = {"yes": {"progress": True}, "no": {"progress": False}, "unsaid": {}}[sys.argv[1]]
options |= {"budget": 7, "workers": 2, "seed": 1, "strategy": "random", "executor": "threads"}
aegisbo.minimize(moody, [(-5, 10), (2, 3)], **options)
assert random.random() == random.Random(3).random()
"""

WARNING = "Trial 1 gave no value: ValueError: no. Its parameters: x0 = 8.81233, x1 = 2.94677. "


def on_a_terminal(*arguments: str) -> str:
    """What a script writes to standard error, which is a terminal."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN, *arguments],
        stderr=slave,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "160"},
    )
    os.close(slave)
    pieces = []
    while True:
        try:
            pieces.append(os.read(master, 65536))
        except OSError:  # the other side is closed
            break
        if not pieces[-1]:
            break
    os.close(master)
    assert process.wait(PATIENCE) == 0
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", b"".join(pieces)).decode()


def in_a_log_file(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **environment},
        check=True,
    )
    assert done.stdout == "hello\n" * 6
    return done.stderr


def test_progress_is_shown_on_a_terminal_only() -> None:
    shown = on_a_terminal("unsaid")
    assert "7/7  best 1.5  1 failed  0:0" in shown
    assert "1 running" in shown
    assert "last error: trial 1: ValueError: no" in shown
    assert WARNING in shown
    assert "hello" not in shown  # standard output goes elsewhere
    for environment in ({}, {"FORCE_COLOR": "1"}):
        (warning,) = in_a_log_file("unsaid", **environment).splitlines()
        assert warning.startswith(WARNING)


def test_progress_is_shown_or_not_if_the_user_says_so() -> None:
    (warning,) = on_a_terminal("no").splitlines()
    assert warning.startswith(WARNING)
    first, warning, last = in_a_log_file("yes").splitlines()
    assert first.startswith("Minimizing over 2 parameters with 2 workers (threads): budget 7, strategy random, seed 1")
    assert last.startswith("7/7  best 1.5  1 failed  0:0")
