"""Drivers, workers and copies are killed while reports stream: nothing is lost or doubled, and stops are replayed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from reporting import STEPS, value_of
from runners.processes_of import children_of, wait_until_dead

from aegisbo import load
from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.optimizer import Trial
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

HERE = Path(__file__).parent
PATIENCE = 300.0
ENDS = ("told", "stopped", "failed")


def events_of(study: Path) -> list[Event]:
    try:
        return read_events(study)
    except StudyError:  # not yet
        return []


def numbers(events: list[Event], *kinds: str) -> Counter[int]:
    return Counter(event.number for event in events if event.kind in kinds and event.number is not None)


def killed(process: subprocess.Popen[str]) -> None:
    family = children_of(process.pid)
    family |= {child for pid in family for child in children_of(pid)}
    process.kill()
    process.communicate()
    assert wait_until_dead(family, seconds=5.0) == set()


def audited(study: Path, budget: int) -> str:
    """Every trial has ended once, with its own value, and every decision follows from what was known.

    One that was stopped may have gone on, and then it has ended once more.
    """
    events = read_events(study)
    resumed = numbers(events, "resumed")
    asked = [event for event in events if event.kind == "asked"]
    assert [event.number for event in asked] == list(range(budget))
    assert numbers(events, *ENDS) == {number: 1 + resumed[number] for number in range(budget)}
    assert numbers(events, "failed") == {}
    assert all(count <= 1 + resumed[number] for number, count in numbers(events, "halted").items())
    told = {event.number: event.body["value"] for event in events if event.kind == "told"}
    points = {event.number: list(event.body["params"].values()) for event in asked}
    assert told == {number: value_of(*points[number]) for number in told}
    for event in events:
        if event.kind == "reported":
            assert event.body["value"] == value_of(*points[event.number], int(event.body["step"]))
    # Whoever was told to stop has stopped, unless it had ended at that moment.
    halted = numbers(events, "halted")
    stopped = numbers(events, "stopped")
    assert set(stopped) <= set(halted)
    found = replay(study)
    assert found.decisions == budget + halted.total() + resumed.total()
    assert found.differences == ()
    result = load(study)
    assert result.nfev == budget
    lost = f"{numbers(events, 'lost').total()} lost and repeated"
    if not result.optimizer.settings.resumable:
        assert all(trial.reports[-1].step == STEPS for trial in result.trials if trial.state == "done")
        return f"{budget} trials, {stopped.total()} stopped, {lost}"
    assert resumed
    made_once(study.parent, result.trials)
    return f"{budget} trials, {stopped.total()} stopped, {resumed.total()} resumed, {lost}"


def made_once(folder: Path, trials: Sequence[Trial]) -> None:
    """No step was made twice, whoever died, and none without the ones before it."""
    for trial in trials:
        made = [json.loads(line) for line in (folder / f"steps.{trial.number}").read_text().splitlines()]
        assert [each["step"] for each in made] == list(range(1, len(made) + 1)), trial
        assert all(each["x"] == list(trial.params.values()) for each in made), trial
        assert len(made) >= trial.reports[-1].step, trial
        assert (len(made) == STEPS) or trial.state == "stopped", trial


@pytest.mark.parametrize(
    ("executor", "kills", "kind"), [("processes", 12, ""), ("threads", 8, ""), ("processes", 12, "resumable")]
)
def test_a_driver_and_its_workers_die(tmp_path: Path, executor: str, kills: int, kind: str) -> None:
    rng, study = np.random.default_rng(5), tmp_path / "run.db"
    command = [sys.executable, str(HERE / "reporting.py"), str(tmp_path), "{budget}", executor, kind]
    before: list[Event] = []
    for _ in range(kills):
        driver = subprocess.Popen([word.format(budget=10_000) for word in command], stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE
        while not numbers(events_of(study)[len(before) :], "reported"):
            assert driver.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 2.0))
        killed(driver)
        events = events_of(study)
        assert events[: len(before)] == before
        before = events
    budget = len(numbers(before, "asked")) + 10
    final = subprocess.run(
        [word.format(budget=budget) for word in command], stdout=subprocess.PIPE, text=True, timeout=PATIENCE,
        check=True,
    )  # fmt: skip
    assert final.stdout == "The budget is spent.\n"
    print(f"\nkilled {kills} times ({executor} {kind}): {audited(study, budget)}")  # noqa: T201


COPY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from reporting import BOX, settings_of, training
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work
folder, budget, kind = Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
# Two copies that believe each other dead would make a step twice.
lease = 15.0 if kind else 2.0
settings = Settings.checked(BOX, **settings_of(kind))
work(training(folder, kind, deadly=True), folder / "run.db", settings, budget=budget, workers=2, lease=lease,
     retries=9)  # several kills may meet the same trial
"""


@pytest.mark.parametrize("kind", ["", "resumable"])
def test_copies_and_their_workers_die(tmp_path: Path, kind: str) -> None:
    rng, study, budget, kills = np.random.default_rng(6), tmp_path / "run.db", 40, 5

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", COPY, str(HERE), str(tmp_path), str(budget), kind], text=True)

    copies = [started() for _ in range(3)]
    for _ in range(kills):
        time.sleep(rng.uniform(1.0, 4.0))
        killed(copies.pop(0))
        copies.append(started())
    for copy in copies:
        assert copy.wait(PATIENCE) == 0
    print(f"\nkilled {kills} copies {kind}: {audited(study, budget)}")  # noqa: T201
