"""Copies of `aegisbo work` as processes: started together, stopped, killed, suspended; the study stays right."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runners.processes_of import children_of, wait_until_dead

import aegisbo
from aegisbo import load
from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.study import change, forget, retry
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from benchmarks.faults import kills

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

PATIENCE = 300.0
Start = Callable[..., subprocess.Popen[str]]  # a function, a budget, options
COPY = "import os; os.environ['COPY'] = str(os.getpid()); from aegisbo.cli import main; main()"
# A copy that suspends itself in the middle of a write, or in its turn, when it finds a file of that name.
SUSPENDED = """
import os, signal
from pathlib import Path
from aegisbo.study import shared, store

def suspending(name, method):
    def suspended(*args, **kwargs):
        if Path(name).exists():
            Path(name).unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
        return method(*args, **kwargs)
    return suspended

store.Store.beat = suspending("in a write", store.Store.beat)
shared.Shared._take = suspending("in its turn", shared.Shared._take)
"""
# The others are less patient than usual.
HASTY = """
from functools import partialmethod
from aegisbo.study import lock, store

store.NOTICE, store.PATIENCE = 1.0, 3.0
lock.DriverLock.turn = partialmethod(lock.DriverLock.turn, 3.0)
"""
SPACE = '[u]\ntype = "real"\nlow = -5.0\nhigh = 10.0\n'
MODULE = """
import os, time
from pathlib import Path

def quick(u):
    time.sleep(0.02)
    return (u - 2.0) ** 2

def slow(u):
    Path(f"begun.{u}").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    return (u - 2.0) ** 2

def deadly(u):
    os.kill(int(os.environ["COPY"]), 9)
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def started(folder: Path) -> Iterator[Start]:
    """Starts copies, and leaves none behind."""
    copies = []

    def start(function: str, budget: int, *options: str, before: str = "", errors: Any = None) -> subprocess.Popen[str]:
        command = ["work", "run.db", f"mine:{function}", "--space", "space.toml", "--budget", str(budget), *options]
        words = [sys.executable, "-c", before + COPY, *command]
        copies.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True))
        return copies[-1]

    yield start
    for copy in copies:
        copy.kill()
        copy.communicate()


def ended(copy: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code of a copy, and the first line that it printed."""
    output, _ = copy.communicate(timeout=PATIENCE)
    return copy.returncode, output.partition("\n")[0]


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def events(*kinds: str) -> list[Event]:
    try:
        return [event for event in read_events(Path("run.db")) if event.kind in kinds]
    except StudyError:  # not yet
        return []


def test_many_begin_at_one_moment_and_share_one_study(folder: Path, started: Start) -> None:
    copies = [started("quick", 30) for _ in range(5)]
    assert [ended(copy) for copy in copies] == [(0, "The budget is spent.")] * 5
    assert [event.number for event in events("asked")] == list(range(30))
    assert sorted(event.number for event in events("told")) == list(range(30))
    assert len(events("created")) == 1
    assert len(events("joined")) == len(events("left")) == 5
    assert replay("run.db").differences == ()
    assert {file.name for file in folder.iterdir()} - {"__pycache__"} == {"space.toml", "mine.py", "run.db"}


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_copy_that_is_told_to_end_gives_its_trial_back_at_once(
    folder: Path, started: Start, sign: signal.Signals
) -> None:
    copy, other = (started("slow", 2, "--lease", "100000") for _ in range(2))
    wait_for(lambda: len(list(folder.glob("begun.*"))) == 2)
    mine = next(event.id for event in events("joined") if event.body["pid"] == copy.pid)
    (held,) = (event.number for event in events("asked") if event.body["copy"] == mine)
    workers = children_of(copy.pid)
    copy.send_signal(sign)
    assert ended(copy) == (0, f"Stopped by {sign.name}.")
    assert wait_until_dead(workers) == set()
    (lost,) = events("lost")
    assert (lost.number, lost.body["given_back"]) == (held, True)
    Path("go").touch()
    assert ended(other) == (0, "The budget is spent.")
    assert [event.number for event in events("taken")] == [held]
    assert load("run.db").nfev == 2


def test_readers_and_second_thoughts_while_copies_work(folder: Path, started: Start) -> None:
    copy = started("slow", 3, "--workers", "3")
    wait_for(lambda: len(list(folder.glob("begun.*"))) == 3)
    assert load("run.db").message.startswith("Running: 1 copy at work (1 on ")
    with pytest.raises(StudyError, match=f"driven by copies of `aegisbo work` .process {copy.pid} on"):
        aegisbo.minimize(lambda u: u, {"u": (-5.0, 10.0)}, budget=9, study="run.db", executor="serial")
    assert forget("run.db", [1]) == (1,)
    Path("go").touch()
    assert ended(copy) == (0, "The budget is spent.")
    assert [trial.state for trial in load("run.db").trials] == ["done", "forgotten", "done", "done"]
    assert [event.number for event in events("late")] == [1]
    assert retry("run.db", [2]) == (2,)
    assert ended(started("slow", 3)) == (0, "The budget is spent.")
    assert [trial.state for trial in load("run.db").trials] == ["done", "forgotten", "done", "done"]
    assert replay("run.db").differences == ()


def test_a_suspended_copy_comes_back_late_and_doubles_nothing(folder: Path, started: Start) -> None:
    copy = started("slow", 1, "--lease", "1")
    wait_for(lambda: list(folder.glob("begun.*")))
    copy.send_signal(signal.SIGSTOP)
    Path("go").touch()  # its worker ends now, and nobody hears of it
    assert ended(started("slow", 1)) == (0, "The budget is spent.")
    copy.send_signal(signal.SIGCONT)
    assert ended(copy) == (0, "The budget is spent.")
    assert [event.kind for event in events("asked", "taken", "told", "late")] == ["asked", "taken", "told", "late"]
    assert load("run.db").nfev == 1


def suspended(copy: subprocess.Popen[str]) -> bool:
    return Path(f"/proc/{copy.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def enough() -> int:
    """Let there be a few evaluations more, and no end before: copies do not all begin at the same moment."""
    budget = len(events("told")) + 60
    change("run.db", budget=budget)
    return budget


@pytest.mark.parametrize("sign", [signal.SIGCONT, signal.SIGKILL])
def test_others_wait_for_a_copy_suspended_in_a_write_and_go_on_when_it_does_or_dies(
    folder: Path, started: Start, sign: signal.Signals
) -> None:
    lease = ("--lease", "5")  # much shorter than the wait: those who cannot beat must not count as dead
    with (folder / "errors").open("w") as errors:
        copy = started("quick", 4000, *lease, before=SUSPENDED)
        others = [started("quick", 4000, *lease, before=HASTY, errors=errors) for _ in range(2)]
        wait_for(lambda: len({event.body.get("copy") for event in events("told")}) == 3)
        Path("in a write").touch()
        wait_for(lambda: suspended(copy))
        told = f"process {copy.pid} on this machine has held it for "
        wait_for(lambda: (folder / "errors").read_text().count(told) == 2)
        time.sleep(12.0)  # longer than any patience there was
        assert [other.poll() for other in others] == [None, None]
        copy.send_signal(sign)
        budget = enough()
        assert [ended(other) for other in others] == [(0, "The budget is spent.")] * 2
    assert ended(copy) == ((0, "The budget is spent.") if sign == signal.SIGCONT else (-signal.SIGKILL, ""))
    assert load("run.db").nfev == budget
    lost = [event.body["reason"] for event in events("lost")]
    assert all(f"process {copy.pid} on " in reason for reason in lost)
    assert len(lost) <= (sign == signal.SIGKILL)
    assert events("late") == []
    assert replay("run.db").differences == ()


def test_who_waits_for_a_suspended_copy_still_ends_when_it_is_told_to(folder: Path, started: Start) -> None:
    copy = started("quick", 4000, before=SUSPENDED)
    other = started("quick", 4000, before=HASTY, errors=subprocess.PIPE)
    wait_for(lambda: len({event.body.get("copy") for event in events("told")}) == 2)
    Path("in a write").touch()
    wait_for(lambda: suspended(copy))
    other.terminate()
    _, errors = other.communicate(timeout=PATIENCE)
    assert other.returncode == 2
    assert f"process {copy.pid} on this machine has held it for " in errors.splitlines()[-1]
    assert errors.splitlines()[-1].endswith("What this copy has not written yet is lost.")


def test_others_wait_once_for_a_copy_suspended_in_its_turn(folder: Path, started: Start) -> None:
    with (folder / "errors").open("w") as errors:
        copy = started("quick", 4000, "--lease", "2", before=SUSPENDED)
        other = started("quick", 4000, "--lease", "2", before=HASTY, errors=errors)
        wait_for(lambda: len({event.body.get("copy") for event in events("told")}) == 2)
        Path("in its turn").touch()
        wait_for(lambda: suspended(copy))
        budget = enough()
        assert ended(other) == (0, "The budget is spent.")
    told = f"process {copy.pid} on this machine has been choosing for 3 seconds"
    assert (folder / "errors").read_text().count(told) == 1
    assert load("run.db").nfev == budget
    copy.send_signal(signal.SIGCONT)
    assert ended(copy) == (0, "The budget is spent.")
    assert replay("run.db").differences == ()


def test_a_trial_that_kills_its_copy_fails_in_the_end(folder: Path, started: Start) -> None:
    codes = [ended(started("deadly", 1, "--retries", "1"))[0] for _ in range(3)]
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 3]
    (trial,) = load("run.db").trials
    assert trial.state == "failed"
    assert trial.reason.startswith("Its worker or its copy died 2 times: Its copy (process ")


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Sixty kills of copies and workers; `python -m benchmarks.faults.kills` does a thousand."""
    figures = kills.campaign(60, copies=3, seed=7, folder=tmp_path)
    assert figures.clean, figures
    assert figures.kills == 60
