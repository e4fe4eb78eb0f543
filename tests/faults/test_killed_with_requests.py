"""Points are added and settings changed while drivers are killed: nothing is lost, and nothing happens twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from audit import Audit, numbers
from diary import BOX, Diary, value_of
from runners.processes_of import children_of, wait_until_dead

import aegisbo
from aegisbo import load
from aegisbo.errors import StudyError
from aegisbo.study import add, change
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

DRIVE = Path(__file__).with_name("drive.py")
PATIENCE = 100.0
FOREVER = 100_000
ADDER = """
import sys
from aegisbo.study import add
for u in sys.argv[2:]:
    add(sys.argv[1], [float(u), 2.5])
"""
COMMAND = ("-c", "from aegisbo.cli import main; main()")


Start = Callable[..., subprocess.Popen[str]]  # a command, in a folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts processes, and leaves none behind."""
    processes = []

    def begin(*command: str) -> subprocess.Popen[str]:
        words = [sys.executable, *command]
        processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def driving(folder: Path, **options: object) -> tuple[str, ...]:
    return str(DRIVE), str(folder), str(FOREVER), json.dumps(options)


def wait_for(audit: Audit, kind: str, wanted: int, driver: subprocess.Popen[str]) -> None:
    """Until so many events of a kind are on record."""
    deadline = time.monotonic() + PATIENCE
    while count(audit.study, kind) < wanted:
        assert driver.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def count(path: Path, kind: str) -> int:
    try:
        return [event.kind for event in read_events(path)].count(kind)
    except StudyError:  # not yet
        return 0


def kill(driver: subprocess.Popen[str], audit: Audit) -> None:
    workers = children_of(driver.pid)
    driver.kill()
    driver.communicate()
    audit.orphans += len(wait_until_dead(workers, PATIENCE))
    audit.look()


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_drivers_are_killed_with_points_waiting(tmp_path: Path, start: Start, executor: str) -> None:
    earlier = [([float(u), 2.5], value_of([u, 2.5])) for u in np.linspace(-4.9, 9.9, 8)]
    aegisbo.minimize(lambda x: 0.0, BOX, budget=1, observed=earlier, study=tmp_path / "old.db", executor="serial")
    options = {"strategy": "aegis", "n_initial": 0, "seconds": 0.05, "executor": executor, "workers": 2}
    options["observed"] = str(tmp_path / "old.db")
    audit, rng = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.0)), np.random.default_rng(5)
    added: list[list[float]] = []
    for k in range(1, 7):
        driver = start(*driving(tmp_path, **options))
        wait_for(audit, "opened", k, driver)
        wait_for(audit, "told", count(audit.study, "told") + 2, driver)
        for _ in range(3):
            added.append([float(rng.uniform(-5, 10)), float(rng.uniform(2, 3))])
            add(audit.study, added[-1])
        change(audit.study, workers=int(rng.integers(1, 4)))
        time.sleep(rng.uniform(0, 0.5))
        kill(driver, audit)
    observed = State.after(read_events(audit.study)).optimizer.observed
    assert len(observed) == 9  # once, whoever was killed: eight pairs and a trial
    final = start(*driving(tmp_path, **options))
    wait_for(audit, "opened", 7, final)
    budget = len(numbers(read_events(audit.study), "asked")) + len(added) + 40
    change(audit.study, budget=budget, workers=3)
    assert final.communicate(timeout=PATIENCE)[0] == "The budget is spent.\n"
    trials = [list(trial.params.values()) for trial in load(audit.study).trials if trial.note["move"] == "added"]
    assert trials == added  # in their order, each of them once
    print(f"\nkilled with points waiting ({executor}): {audit.close(budget)}")  # noqa: T201
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", "old.db", "diary"}


def test_many_add_at_the_same_moment_beside_a_driver_that_writes(tmp_path: Path, start: Start) -> None:
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.0))
    driver = start(*driving(tmp_path, strategy="random", seconds=0.004, executor="threads"))
    wait_for(audit, "told", 5, driver)
    points = np.linspace(-4.75, 9.75, 40).round(6)
    adders = [start("-c", ADDER, str(audit.study), *map(str, part)) for part in np.split(points, 4)]
    assert [adder.wait(PATIENCE) for adder in adders] == [0] * 4
    deadline = time.monotonic() + PATIENCE
    while State.after(read_events(audit.study)).optimizer.waiting:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    change(audit.study, target=1e9)
    assert driver.communicate(timeout=PATIENCE)[0] == "The target 1e+09 is reached.\n"
    result = load(audit.study)
    added = [trial for trial in result.trials if trial.note["move"] == "added"]
    assert sorted(trial.params["x0"] for trial in added) == sorted(points)
    assert {trial.state for trial in added} <= {"done", "pending"}
    found = replay(audit.study)
    assert (found.decisions, found.differences) == (len(result.trials), ())


def test_a_copy_that_is_killed_leaves_an_added_point_to_others(tmp_path: Path, start: Start) -> None:
    (tmp_path / "space.toml").write_text('[u]\ntype = "real"\nlow = -5.0\nhigh = 10.0\n')
    (tmp_path / "mine.py").write_text(
        "import time\nfrom pathlib import Path\n\ndef f(u):\n    Path(f'begun.{u}').touch()\n"
        "    while not Path('go').exists():\n        time.sleep(0.01)\n    return u * u\n"
    )
    words = [*COMMAND, "work", "run.db", "mine:f", "--space", "space.toml", "--budget", "3", "--lease", "1", "--quiet"]
    first = start(*words)
    path, deadline = tmp_path / "run.db", time.monotonic() + PATIENCE

    def begun(number: int) -> bool:
        return len(list(tmp_path.glob("begun.*"))) >= number

    def wait_until(number: int) -> None:
        while not begun(number):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    wait_until(1)
    assert (
        start(*COMMAND, "add", "run.db", "u=1.25").communicate(timeout=PATIENCE)[0] == "Added: u = 1.25. It is next.\n"
    )
    second = start(*words)
    wait_until(2)
    assert (tmp_path / "begun.1.25").exists()
    second.kill()
    second.communicate()
    assert start(*COMMAND, "set", "run.db", "budget=4").communicate(timeout=PATIENCE)[0].startswith("Set budget=4.")
    third = start(*words)
    (tmp_path / "go").touch()
    for copy in (first, third):
        output, _ = copy.communicate(timeout=PATIENCE)
        assert output.startswith("The budget is spent.")
    result = load(path)
    assert (result.nfev, result.trials[1].params, result.trials[1].value) == (4, {"u": 1.25}, 1.25**2)
    assert [trial.note["move"] for trial in result.trials].count("added") == 1
    assert replay(path).differences == ()
