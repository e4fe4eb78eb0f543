"""Killed, resumed, retried, forgotten, again and again: the books stay right and every decision replays."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from diary import value_of

from aegisbo import load
from aegisbo.errors import StudyError
from aegisbo.study import forget, retry
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

DRIVE = Path(__file__).with_name("drive.py")
OPTIONS = {"strategy": "aegis", "n_initial": 5, "seconds": 0.02, "executor": "threads"}
PATIENCE = 300.0


def started(folder: Path, budget: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(DRIVE), str(folder), str(budget), json.dumps(OPTIONS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def events_in(path: Path) -> int:
    try:
        return len(read_events(path))
    except StudyError:  # not yet
        return 0


def test_killed_resumed_retried_and_forgotten(tmp_path: Path) -> None:
    path, rng = tmp_path / "run.db", np.random.default_rng(3)
    forgotten: set[int] = set()
    for _ in range(4):
        before, deadline = events_in(path), time.monotonic() + PATIENCE
        with started(tmp_path, 100_000) as driver:
            while events_in(path) < before + 20:
                assert driver.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            with pytest.raises(StudyError, match=f"process {driver.pid} on"):
                forget(path, [0])
            driver.kill()
        assert load(path).message.startswith("Killed")
        done = [trial.number for trial in load(path).trials if trial.state == "done"]
        again, gone = np.split(rng.choice(done, 4, replace=False), 2)
        assert retry(path, again) == tuple(sorted(again))
        assert forget(path, gone) == tuple(sorted(gone))
        forgotten |= set(gone)
        assert {trial.number for trial in load(path).trials if trial.state == "forgotten"} == forgotten
    budget = len(load(path).trials) + 5
    with started(tmp_path, budget) as final:
        assert final.communicate(timeout=PATIENCE)[0] == "The budget is spent.\n"
    result = load(path)
    assert result.nfev == budget
    assert len(result.trials) == budget + len(forgotten)
    for trial in result.trials:
        assert trial.value == (None if trial.number in forgotten else value_of(list(trial.params.values())))
    assert result.fun == min(trial.value for trial in result.trials if trial.value is not None)
    found = replay(path)
    assert found.decisions == len(result.trials)
    assert found.differences == ()
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", "diary"}
