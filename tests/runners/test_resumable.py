"""Evaluations that keep their state in a folder of their trial: they go on where they were, wherever they run."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import aegisbo
from aegisbo import Command, Optimizer, Stopped, minimize
from aegisbo.errors import StudyError
from aegisbo.events import Resumed
from aegisbo.runners import reports
from aegisbo.runners.trial_folders import ENDING
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

BOX = {"x": (-1.0, 3.0)}
STEPS = 27


def value_of(x: float, step: int = STEPS) -> float:
    return (x - 0.3) ** 2 + 1.0 / step


class Training:
    """Keeps how far it is in its folder, and writes down each step that it makes, and where."""

    def __init__(self, diary: Path, deadly: bool = False) -> None:
        self.diary, self.deadly = diary, deadly

    def __call__(self, x: float) -> float:
        folder = aegisbo.worker().folder
        assert folder is not None
        state = folder / "state.json"
        done = json.loads(state.read_text()) if state.exists() else 0
        for step in range(done + 1, STEPS + 1):
            with self.diary.open("a") as diary:
                diary.write(f"{x!r} {step} {folder.name}\n")
            state.write_text(json.dumps(step))
            aegisbo.report(value_of(x, step), step)
            if self.deadly and step == 2:
                os.kill(os.getpid(), 9)
        return value_of(x)


@pytest.fixture(autouse=True)
def _all_reports_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "GAP", 0.0)
    monkeypatch.setattr(reports, "SHARE", 0.0)


def run(function: Any, folder: Path, **options: Any) -> aegisbo.Result:
    given = {"budget": 16, "seed": 5, "strategy": "random", "stop_early": "ranks", "steps": STEPS, "resumable": True}
    return minimize(function, BOX, **{**given, "study": folder / "run.db", **options})


def made(diary: Path) -> Counter[tuple[float, int, int]]:
    """How often each step of each trial was made."""
    lines = [line.split() for line in diary.read_text().splitlines()]
    return Counter((float(x), int(step), int(number)) for x, step, number in lines)


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_no_step_is_made_twice_and_each_trial_counts_once(tmp_path: Path, executor: str) -> None:
    result = run(Training(tmp_path / "diary"), tmp_path, executor=executor, workers=1 if executor == "serial" else 2)
    events = read_events(tmp_path / "run.db")
    resumed = {event.number for event in events if isinstance(event, Resumed)}
    if executor == "serial":  # else it depends on who comes first
        assert resumed
    assert len(result.trials) == result.nfev == 16
    assert result.message.startswith("The budget is spent.")
    steps = made(tmp_path / "diary")
    assert set(steps.values()) == {1}
    for trial in result.trials:
        mine = sorted(step for x, step, number in steps if number == trial.number)
        assert {x for x, _, number in steps if number == trial.number} == {trial.params["x"]}
        assert mine == list(range(1, len(mine) + 1))
        assert trial.state == ("done" if len(mine) == STEPS else "stopped")
        assert [report.step for report in trial.reports] == mine
        seconds = [report.seconds for report in trial.reports]
        assert seconds == sorted(seconds)
    assert replay(tmp_path / "run.db").faithful


def test_folders_of_the_best_and_of_those_that_may_go_on_are_kept(tmp_path: Path) -> None:
    result = run(Training(tmp_path / "diary"), tmp_path, executor="serial")
    kept = {int(folder.name) for folder in (tmp_path / f"run.db{ENDING}").iterdir()}
    stopped = {trial.number for trial in result.trials if trial.state == "stopped"}
    assert kept == stopped | {result.best.number}
    before = made(tmp_path / "diary")
    more = run(Training(tmp_path / "diary"), tmp_path, executor="serial", budget=40)
    assert len(more.trials) == 40
    resumed = [event.number for event in read_events(tmp_path / "run.db") if isinstance(event, Resumed)]
    assert stopped.intersection(resumed[-3:])  # the second call has gone on with some of the first
    assert set(made(tmp_path / "diary").values()) == {1}
    assert before <= made(tmp_path / "diary")


def test_folders_of_an_earlier_study_of_this_name_are_refused(tmp_path: Path) -> None:
    run(Training(tmp_path / "diary"), tmp_path, executor="serial")
    (tmp_path / "run.db").unlink()
    refused = rf"run\.db\{ENDING}.\d+ is not of this study: move .*run\.db\{ENDING} away, or use another study\."
    made_before = made(tmp_path / "diary")
    with pytest.raises(StudyError, match=refused):
        run(Training(tmp_path / "diary"), tmp_path, executor="serial")
    assert made(tmp_path / "diary") == made_before
    (tmp_path / f"run.db{ENDING}").rename(tmp_path / "away")
    result = run(Training(tmp_path / "diary"), tmp_path, executor="serial")
    assert result.nfev == 16
    assert made(tmp_path / "diary").total() >= made_before.total() + 16


def test_without_a_study_folders_are_temporary(tmp_path: Path) -> None:
    folders: list[Path] = []

    def watched(x: float) -> float:
        folders.append(aegisbo.worker().folder)
        return Training(tmp_path / "diary")(x)

    run(watched, tmp_path, study=None, executor="serial", budget=4)
    assert len({folder.parent for folder in folders}) == 1
    assert not any(folder.parent.exists() for folder in folders)


def test_a_worker_that_dies_leaves_the_state_to_the_next(tmp_path: Path) -> None:
    result = run(Training(tmp_path / "diary", deadly=True), tmp_path, workers=1, budget=2, stop_early=False, steps=None)
    assert [trial.state for trial in result.trials] == ["done"] * 2
    assert [event.kind for event in read_events(tmp_path / "run.db")].count("lost") == 2
    assert made(tmp_path / "diary") == {
        (trial.params["x"], step, trial.number): 1 for trial in result.trials for step in range(1, STEPS + 1)
    }


def test_a_function_of_a_run_that_is_not_resumable_has_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found: list[Path | None] = []

    def watched(x: float) -> float:
        found.append(aegisbo.worker().folder)
        return x

    minimize(watched, BOX, budget=1, executor="serial")
    assert found == [None]
    monkeypatch.setenv("AEGISBO_SLOT", "0")
    monkeypatch.setenv("AEGISBO_FOLDER", str(tmp_path))
    assert aegisbo.worker().folder == tmp_path  # to try the function by hand


PROGRAM = """
import os, sys, pathlib
assert os.environ["AEGISBO_FOLDER"] == sys.argv[2]
state = pathlib.Path(sys.argv[2], "state")
done = int(state.read_text()) if state.exists() else 0
for step in range(done + 1, 5):
    state.write_text(str(step))
    print(f"step={step} value={float(sys.argv[1]) + 1 / step}", flush=True)
    if step == 2:
        os.kill(os.getppid(), 9)
        os._exit(1)  # else it might go on beside the one that is started next
"""


def test_a_program_goes_on_in_its_folder(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    result = run(
        Command(f"{sys.executable} {program} {{x}} {{folder}}"),
        tmp_path,
        budget=2,
        workers=1,
        stop_early=False,
        steps=None,
    )
    assert [trial.value for trial in result.trials] == [pytest.approx(t.params["x"] + 0.25) for t in result.trials]
    assert [event.kind for event in read_events(tmp_path / "run.db")].count("lost") == 2
    states = [file.read_text() for file in tmp_path.glob(f"run.db{ENDING}/*/state")]
    assert states == ["4"]  # of the best


def test_ask_returns_a_stopped_trial_again() -> None:
    optimizer = Optimizer(BOX, seed=5, strategy="random", stop_early="ranks", steps=STEPS, resumable=True)
    state: dict[int, int] = {}  # how far each trial is
    again = 0
    for _ in range(40):
        trial = optimizer.ask()
        again += bool(trial.reports)
        assert len(trial.reports) == state.get(trial.number, 0)
        try:
            for step in range(state.get(trial.number, 0) + 1, STEPS + 1):
                state[trial.number] = step
                optimizer.report(trial, value_of(trial.params["x"], step), step)
            optimizer.tell(trial, value_of(trial.params["x"]))
        except Stopped:
            continue
    assert again >= 3
    assert {trial.state for trial in optimizer.trials} == {"done", "stopped"}
