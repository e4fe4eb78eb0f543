"""What trackers are given: each trial once, also those of earlier calls, while no worker waits."""

from __future__ import annotations

import math
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tracked import run

import aegisbo
from aegisbo.integrations import tracker
from aegisbo.integrations.tracker import Entry, Session, Tracker, Whole
from aegisbo.optimizer import Trial
from aegisbo.outcome import Report
from aegisbo.study import retry

BOX = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}


class Kept(Tracker):
    """Keeps entries by the key of their study."""

    title = "Kept"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.entries: dict[str, list[Entry]] = {}
        self.opened: list[Whole] = []
        self.broken = ""  # what is raised
        self.error: type[BaseException] = ConnectionError
        self.refused = -1  # number of a trial that is not taken
        self.free = Event()  # entries are taken
        self.free.set()
        self.may_close = Event()
        self.may_close.set()
        self.closed = 0

    def _opened(self, study: Whole) -> Session:
        self.opened.append(study)
        return KeptSession(self, self.entries.setdefault(study.key, []))

    @property
    def numbers(self) -> list[int]:
        (entries,) = self.entries.values()
        return [entry.trial.number for entry in entries]


class KeptSession(Session):
    def __init__(self, kept: Kept, entries: list[Entry]) -> None:
        self._kept, self._entries = kept, entries
        self.logged = {entry.mark for entry in entries}

    def write(self, entry: Entry) -> None:
        self._kept.free.wait(60.0)
        if self._kept.broken:
            raise self._kept.error(self._kept.broken)
        if entry.trial.number == self._kept.refused:
            raise ValueError("not this one")
        self._entries.append(entry)

    def close(self) -> None:
        self._kept.may_close.wait(60.0)
        self._kept.closed += 1


def bowl(x: float, y: float) -> float:
    return (x - 3.0) ** 2 + (y - 2.5) ** 2


def test_every_trial_is_given_once_over_all_calls_in_the_order_of_their_ends(tmp_path: Path) -> None:
    kept = Kept()
    run(tmp_path, 4, kept)
    run(tmp_path, 6, kept)
    run(tmp_path, 6, kept)
    assert kept.numbers == [0, 1, 2, 3, 4, 5]
    assert [entry.place for entry in next(iter(kept.entries.values()))] == [1, 2, 3, 4, 5, 6]
    assert {whole.name for whole in kept.opened} == {"run"}


def test_trials_of_calls_without_the_tracker_are_given_when_a_call_begins_even_if_nothing_is_left(
    tmp_path: Path,
) -> None:
    run(tmp_path, 5)
    kept = Kept("mine")
    run(tmp_path, 5, kept)
    assert kept.numbers == [0, 1, 2, 3, 4]
    assert kept.opened[0].name == "mine"
    assert kept.closed == 1


def test_a_study_can_be_logged_without_a_run_and_another_one_of_its_name_is_another(tmp_path: Path) -> None:
    kept = Kept()
    for _ in range(2):
        run(tmp_path, 3)
        kept.log(aegisbo.load(tmp_path / "run.db"))
        kept.log(aegisbo.load(tmp_path / "run.db"))
        (tmp_path / "run.db").unlink()
    assert [len(entries) for entries in kept.entries.values()] == [3, 3]


def test_runs_without_a_study_are_kept_apart_and_an_own_loop_is_one_run() -> None:
    kept = Kept()
    for _ in range(2):
        aegisbo.minimize(bowl, BOX, budget=2, executor="serial", strategy="random", seed=0, callbacks=[kept])
    assert [len(entries) for entries in kept.entries.values()] == [2, 2]
    optimizer, kept = aegisbo.Optimizer(BOX, strategy="random", seed=0), Kept()
    for state in ("done", "lost"):
        trial = optimizer.ask()
        optimizer.tell(trial, 1.0) if state == "done" else optimizer.expire(trial)
        kept.log(optimizer.result())
    (entries,) = kept.entries.values()
    assert [entry.facts["state"] for entry in entries] == ["done", "lost"]


def test_an_entry_says_what_was_measured_why_and_how(tmp_path: Path) -> None:
    kept = Kept()
    result = run(tmp_path, 6, kept)
    (entries,) = kept.entries.values()
    good, failed = entries[:2]
    assert good.metrics == {"value": 6.0, "latency": 1.0, "seconds": result.trials[0].seconds}
    assert good.facts == {"state": "done", "move": "initial", "worker": "0"}
    assert [(step, value) for step, value, _ in good.curve] == [(1, 1.0), (2, 0.5)]
    assert failed.facts["reason"] == "ValueError: diverged"
    assert list(failed.metrics) == ["seconds"]
    assert kept.opened[0].facts["limits"] == "latency <= 2"
    assert kept.opened[0].facts["space.n"] == "Int(1, 3, when={'act': 'a'})"


def test_the_best_so_far_is_that_of_what_keeps_the_limits_and_was_observed(tmp_path: Path) -> None:
    kept = Kept()
    result = run(tmp_path, 12, kept)
    (entries,) = kept.entries.values()
    expected, best = [], math.inf
    for trial in result.trials:
        if trial.state == "done" and trial.measured["latency"] <= 2.0:
            best = min(best, trial.value or 0.0)
        expected.append(best)
    assert min(trial.value for trial in result.trials if trial.value is not None) < best
    assert [entry.best["best"] for entry in entries] == expected
    optimizer = aegisbo.Optimizer(BOX, maximize=True, strategy="random", seed=0)
    optimizer.observe({"x": 0.0, "y": 2.5}, 7.0)
    for value in (5.0, 9.0, 8.0):
        optimizer.tell(optimizer.ask(), value)
    kept = Kept()
    kept.log(optimizer.result())
    (entries,) = kept.entries.values()
    assert [entry.best for entry in entries] == [{"best": 7.0}, {"best": 9.0}, {"best": 9.0}]


def test_several_objectives_have_a_best_each() -> None:
    optimizer = aegisbo.Optimizer(BOX, objectives={"accuracy": "max", "latency": "min"}, strategy="random", seed=0)
    for accuracy, latency in ((0.5, 3.0), (0.7, 4.0)):
        optimizer.tell(optimizer.ask(), {"accuracy": accuracy, "latency": latency})
    kept = Kept()
    kept.log(optimizer.result())
    (entries,) = kept.entries.values()
    assert entries[1].best == {"best accuracy": 0.7, "best latency": 3.0}
    assert entries[1].metrics == {"accuracy": 0.7, "latency": 4.0}
    assert kept.opened[0].facts["objective"] == "accuracy max, latency min"


def test_a_trial_that_is_tried_again_is_another_entry(tmp_path: Path) -> None:
    kept = Kept()
    run(tmp_path, 3, kept)
    retry(tmp_path / "run.db", [1])
    run(tmp_path, 3, kept)
    (entries,) = kept.entries.values()
    assert [entry.name for entry in entries] == ["trial 0", "trial 1", "trial 2", "trial 1, again 1"]
    assert entries[-1].file == "trial-0001-1"


def test_an_added_point_has_an_author() -> None:
    optimizer, kept = aegisbo.Optimizer(BOX, strategy="random", seed=0), Kept()
    optimizer.add({"x": 1.0, "y": 2.0})
    optimizer.tell(optimizer.ask(), 1.0)
    kept.log(optimizer.result())
    ((entry,),) = kept.entries.values()
    assert entry.facts["author"] == "user"


def test_steps_that_are_not_whole_are_numbered_and_what_is_not_finite_is_left_out() -> None:
    reports = (Report(0.5, 3.0, 1.0), Report(1.0, None, 2.0), Report(1.5, 2.0, 3.0))
    trial = Trial(0, None, {}, "done", 1.0, reports=reports, started=100.0)
    assert Entry(trial, 0, "", 1, {}).curve == [(1, 3.0, 101.0), (3, 2.0, 103.0)]


def test_the_run_does_not_wait_for_a_tracker_until_its_end() -> None:
    kept, calls = Kept(), []
    kept.free.clear()

    def fun(x: float, y: float) -> float:
        calls.append(x)
        if len(calls) == 5:  # all before are evaluated, though the tracker has not taken the first
            assert not kept.entries or not next(iter(kept.entries.values()))
            kept.free.set()
        return x

    aegisbo.minimize(fun, BOX, budget=5, executor="serial", strategy="random", seed=0, callbacks=[kept])
    assert sorted(kept.numbers) == [0, 1, 2, 3, 4]


def test_a_tracker_that_fails_is_warned_of_once_and_gets_what_is_missing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    kept.broken = "refused by http://me:secret@host/\nand more"
    result = run(tmp_path, 4, kept)
    assert result.nfev == 4
    (warning,) = [record.message for record in caplog.records if "Kept" in record.message]
    assert warning.startswith("Kept has not logged all trials (ConnectionError: refused by http://host/). The run")
    kept.broken = ""
    kept.log(aegisbo.load(tmp_path / "run.db"))
    assert kept.numbers == [0, 1, 2, 3]


def test_a_tracker_that_ends_its_thread_ends_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    kept.broken, kept.error = "1", SystemExit
    assert run(tmp_path, 3, kept).nfev == 3
    assert "Kept has not logged all trials (SystemExit: 1)" in caplog.text
    kept.broken = ""
    run(tmp_path, 4, kept)
    assert kept.numbers == [0, 1, 2, 3]


def test_a_trial_that_is_not_taken_keeps_no_other_from_the_tracker(tmp_path: Path) -> None:
    kept = Kept()
    kept.refused = 1
    run(tmp_path, 4, kept)
    assert kept.numbers == [0, 2, 3]


def test_the_end_of_a_run_does_not_wait_for_ever_for_a_tracker_to_close(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker, "PATIENCE", 0.01)
    kept = Kept()
    kept.may_close.clear()
    assert run(tmp_path, 3, kept).nfev == 3
    assert "Kept has not logged all trials (it does not answer)" in caplog.text
    kept.may_close.set()


def test_a_failure_is_told_again_when_one_logs_by_hand(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    kept.broken = "away"
    run(tmp_path, 2, kept)
    kept.log(aegisbo.load(tmp_path / "run.db"))
    assert caplog.text.count("Kept has not logged all trials (ConnectionError: away)") == 2


def test_the_end_of_a_run_does_not_wait_for_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracker, "PATIENCE", 0.01)
    kept = Kept()
    kept.free.clear()
    assert run(tmp_path, 3, kept).nfev == 3
    assert "Kept has not logged all trials (it does not answer)" in caplog.text
    kept.free.set()
    monkeypatch.setattr(tracker, "PATIENCE", 60.0)
    run(tmp_path, 3, kept)
    assert kept.numbers == [0, 1, 2]


def test_ctrl_c_ends_the_waiting_and_loses_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Any, timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    kept = Kept()
    kept.free.clear()
    monkeypatch.setattr("aegisbo.integrations.tracker.Thread.join", interrupted)
    assert run(tmp_path, 3, kept).nfev == 3
    kept.free.set()
