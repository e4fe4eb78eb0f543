"""The driver is killed, again and again, and the run goes on as if nothing had happened."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from audit import Audit, numbers
from diary import Diary
from runners.processes_of import children_of, wait_until_dead

from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.study.reading import read_events

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

HERE = Path(__file__).parent
FOREVER = 100_000
PATIENCE = 300.0


def started(folder: Path, budget: int, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "drive.py"), str(folder), str(budget), json.dumps(options)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for_life(audit: Audit, driver: subprocess.Popen[str], *, evaluating: bool) -> None:
    """Until this driver has written its first event, or its workers have begun their first evaluation."""
    deadline = time.monotonic() + PATIENCE
    events, entries = len(audit.events), len(audit.diary.entries())
    while not (len(audit.diary.entries()) > entries if evaluating else len(events_of(audit)) > events):
        assert driver.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def events_of(audit: Audit) -> list[Event]:
    try:
        return read_events(audit.study)
    except StudyError:  # not yet
        return []


def kill(driver: subprocess.Popen[str], audit: Audit) -> None:
    """SIGKILL, then look for survivors."""
    family = children_of(driver.pid)
    family |= {child for pid in family for child in children_of(pid)}
    driver.kill()
    driver.communicate()
    audit.orphans += len(wait_until_dead(family | audit.diary.pids(), seconds=5.0))
    audit.look()


@pytest.mark.parametrize(
    ("kills", "options"),
    [
        (20, {"strategy": "aegis", "n_initial": 6, "seconds": 0.4, "executor": "processes"}),
        (6, {"strategy": "random", "seconds": 0.05, "executor": "threads"}),
    ],
    ids=["processes", "threads"],
)
def test_killed_at_random_moments(tmp_path: Path, kills: int, options: dict[str, object]) -> None:
    rng = np.random.default_rng(20)
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.0))
    for k in range(kills):
        driver = started(tmp_path, FOREVER, **options)
        if k % 5:  # else at any moment from the very start
            wait_for_life(audit, driver, evaluating=k % 5 > 1)
        time.sleep(rng.uniform(0, 2.0))
        kill(driver, audit)
    budget = len(numbers(audit.events, "asked")) + 10
    final = started(tmp_path, budget, **options)
    assert final.communicate(timeout=PATIENCE)[0] == "The budget is spent.\n"
    assert wait_until_dead(audit.diary.pids(), 5.0) == set()
    print(f"\nkilled driver ({options['executor']}): {audit.close(budget)}")  # noqa: T201


# One process that has everything loaded, and forks a driver for each kill: so the kills fall into the writing itself.
HAMMER = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
import aegisbo.public.minimize
from drive import drive

folder, kills, rng = Path(sys.argv[2]), int(sys.argv[3]), np.random.default_rng(int(sys.argv[4]))
for k in range(kills):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        drive(folder, 100_000, seconds=0.004, executor="threads")
    time.sleep(rng.uniform(0, 0.8) ** 2)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(k, flush=True)
    sys.stdin.readline()
"""


def test_killed_in_the_middle_of_a_write(tmp_path: Path) -> None:
    """Sixty kills within the first moments of writing, the first ones while the file is made."""
    kills = 60
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.0))
    command = [sys.executable, "-c", HAMMER, str(HERE), str(tmp_path), str(kills), "7"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hammer:
        assert hammer.stdin is not None
        assert hammer.stdout is not None
        for k in range(kills):
            assert hammer.stdout.readline() == f"{k}\n"
            audit.look()
            hammer.stdin.write("\n")
            hammer.stdin.flush()
    budget = len(numbers(audit.events, "asked")) + 10
    final = started(tmp_path, budget, seconds=0.004, executor="threads")
    assert final.communicate(timeout=PATIENCE)[0] == "The budget is spent.\n"
    print(f"\nkilled in the middle of a write: {audit.close(budget)}")  # noqa: T201
