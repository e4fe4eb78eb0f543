"""What docs/security.md says of study files: reading one unpickles nothing, runs nothing and connects to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import aegisbo

pytestmark = pytest.mark.long

WATCHED = (
    "pickle.find_class",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
)
READERS = f"""
import platform, sys
import aegisbo.public.minimize, aegisbo.study.replay
from aegisbo.cli import main

platform.processor()  # asks a program of the system, once

def watch(event, arguments):
    if event in {WATCHED}:
        raise SystemExit(f"{{event}} {{arguments}}")

def run(*words):
    sys.argv = ["aegisbo", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)

sys.addaudithook(watch)
"""
ALL = """
run("show", "run.db")
run("show", "run.db", "--trial", "1")
run("report", "run.db")
run("export", "run.db", "--to", "csv")
run("export", "run.db", "--to", "json")
run("replay", "run.db")
aegisbo.load("run.db")
aegisbo.minimize(lambda x: x, {"x": (0, 10)}, budget=1, observed="run.db", executor="serial", progress=False)
run("forget", "run.db", "2")
run("retry", "run.db")
run("add", "run.db", "x=3.25")
run("set", "run.db", "budget=50")
"""


def outcome(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", READERS + program], cwd=folder, capture_output=True, text=True, check=False
    )


def fails_high(x: float) -> float:
    return x if x < 6 else 1 / 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    study = tmp_path / "run.db"
    aegisbo.minimize(fails_high, {"x": (0, 10)}, budget=8, workers=2, executor="threads", study=study, seed=1)
    return tmp_path


def test_reading_and_editing_a_study_runs_nothing(folder: Path) -> None:
    done = outcome(folder, ALL)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("program", "event"),
    [
        ("import pickle; pickle.loads(b'cos\\ngetcwd\\n.')", "pickle.find_class"),
        ("import os; os.system('true')", "os.system"),
    ],
)
def test_the_watcher_sees_what_it_watches(program: str, event: str, tmp_path: Path) -> None:
    assert event in outcome(tmp_path, program).stderr
