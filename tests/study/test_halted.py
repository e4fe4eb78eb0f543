"""Decisions to stop an evaluation in the log: what a crash leaves of them, and what a replay makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aegisbo import load, minimize
from aegisbo.errors import StudyError
from aegisbo.events import Halted, Reported, read_event
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome, Report
from aegisbo.stopping.ranks import Ranks
from aegisbo.stopping.rule import RULES
from aegisbo.study import Study
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

BOX = {"x": (-1.0, 3.0)}
SETTINGS = {"strategy": "random", "seed": 2, "stop_early": "ranks", "steps": 3}


def left_behind(path: Path) -> None:
    """A driver that died when it had decided to stop trial 3, which had not heard of it."""
    with Study.open(path, Settings.checked(BOX, **SETTINGS)) as study:
        for number in range(4):
            study.ask()
            reason = study.answer(study.reported(number, Report(1.0, float(number))), number)
            assert bool(reason) == (number >= 2)
        study.take_in(study.ended(2, Outcome("stopped", reason="It was told.")))


def test_a_trial_that_was_to_stop_is_not_run_again(tmp_path: Path) -> None:
    path, called = tmp_path / "run.db", []
    left_behind(path)
    assert load(path).trials[3].halted == "At step 1 it was number 4 of 4."
    result = minimize(
        lambda x: called.append(x) or x, BOX, budget=5, study=path, executor="serial", anyway=True, **SETTINGS
    )
    assert [trial.state for trial in result.trials] == ["done", "done", "stopped", "stopped", "done"]
    assert len(called) == 3
    assert result.trials[3].reason == "At step 1 it was number 4 of 4."
    assert replay(path).faithful


def test_a_decision_that_comes_out_differently_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(tmp_path / "run.db")
    assert replay(tmp_path / "run.db").faithful
    monkeypatch.setitem(RULES, "ranks", replace(Ranks(), eta=1))
    found = replay(tmp_path / "run.db")
    assert [each.number for each in found.differences] == [2, 3]
    assert found.decisions == 6


def test_a_decision_knows_only_what_came_before_it(tmp_path: Path) -> None:
    left_behind(tmp_path / "run.db")
    halted = [event for event in read_events(tmp_path / "run.db") if isinstance(event, Halted)]
    reported = [event for event in read_events(tmp_path / "run.db") if isinstance(event, Reported)]
    assert [event.seen for event in halted] == [reported[2].id, reported[3].id]
    with pytest.raises(StudyError, match="came later"):
        read_event(7, "halted", 0, 0.0, {"reason": "", "seen": 7})


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("reported", {"value": 1.0}),
        ("reported", {"step": "one", "value": 1.0}),
        ("reported", {"step": 1.0, "value": "low"}),
        ("halted", {"seen": 1}),
        ("stopped", {"seconds": 1.0}),
        ("stopped", {"state": "failed", "reason": "", "seconds": 1.0}),
    ],
)
def test_what_no_version_has_written_is_refused(kind: str, body: dict[str, object]) -> None:
    with pytest.raises(StudyError, match=f"event 7, '{kind}'"):
        read_event(7, kind, 0, 0.0, body)


def test_a_report_that_a_decision_did_not_know_does_not_let_its_evaluation_go_on(tmp_path: Path) -> None:
    path, settings = tmp_path / "run.db", Settings.checked(BOX, **{**SETTINGS, "steps": 9}, resumable=True)
    with Study.open(path, settings) as study:
        for number in range(3):
            study.ask()
            first = study.reported(number, Report(1.0, float(number)))
            second = study.reported(number, Report(2.0, float(number)))  # before the driver has heard of the first
            reason = study.answer(first, number)
            assert bool(reason) == (number == 2)
            study.take_in(second)
        study.take_in(study.ended(2, Outcome("stopped", reason=reason)))
        assert study.resume() is None
    with Study.open(path, settings) as study:  # its events come in the order in which they were written
        assert study.resume() is None
        for number in range(3, 9):  # the third of nine belongs to the best third
            study.ask()
            study.answer(study.reported(number, Report(1.0, 9.0)), number)
        assert study.resume().number == 2
    assert replay(path).faithful


def test_another_rule_is_another_run(tmp_path: Path) -> None:
    left_behind(tmp_path / "run.db")
    with pytest.raises(StudyError, match="stop_early is 'ranks' in the study and False in this call"):
        minimize(lambda x: x, BOX, budget=5, study=tmp_path / "run.db", strategy="random", seed=2)


def follow(study: Study, number: int, seen: int = 20) -> dict[int, str]:
    """Report a curve that falls to the number of the trial, to its end or to a step before; ask about all others."""
    for step in range(1, seen + 1):
        study.answer(study.reported(number, Report(float(step), number + 1.0 / step, float(step))), number)
    if seen == 20:
        study.take_in(study.ended(number, Outcome("done", number + 0.05, seconds=20.0)))
    return study.reconsider(
        trial.number for trial in study.optimizer.trials if trial.state == "pending" and trial.reports
    )


def test_what_others_have_shown_stops_one_that_has_not_reported_since(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    settings = {**SETTINGS, "stop_early": "gain", "steps": 20, "n_initial": 8}
    with Study.open(path, Settings.checked(BOX, **settings)) as study:
        for _ in range(8):
            study.ask()
        assert follow(study, 7, seen=5) == {}
        said = [follow(study, number) for number in range(6)]
        assert said[:5] == [{}] * 5  # too few have ended
        assert list(said[5]) == [7]
        assert study.optimizer.trial(7).halted == said[5][7]
        assert study.reconsider([7]) == said[5]  # decided once
    assert sum(isinstance(event, Halted) for event in read_events(path)) == 1
    assert replay(path).faithful


def test_successive_halving_decides_at_reports_only(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **SETTINGS)) as study:
        for _ in range(4):
            study.ask()
        assert study.answer(study.reported(3, Report(1.0, 9.0)), 3) == ""
        for number in range(3):
            study.answer(study.reported(number, Report(1.0, float(number))), number)
        assert study.optimizer.verdict(3) is not None  # it would be, if it were asked
        assert study.reconsider([3]) == {}
