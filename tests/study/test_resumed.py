"""Decisions to go on with a stopped evaluation: what they count, what a crash leaves of them, what a replay finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from shared_copies import BOX, Hall

from aegisbo.errors import StudyError
from aegisbo.events import Ended, Resumed, read_event
from aegisbo.optimizer import Settings, Trial
from aegisbo.outcome import Outcome, Report
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.rule import RULES
from aegisbo.study import Study, forget, retry
from aegisbo.study.known_then import choices
from aegisbo.study.ledger import Ledger
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.shared import Shared

GIVEN = {"seed": 2, "n_initial": 3, "stop_early": "ranks", "steps": 27, "resumable": True}


class Strict:
    def objection(self, number: int, curves: Curves) -> str:
        return "no"

    def gains(self, number: int, curves: Curves) -> bool:
        return False


def said(study: Study, number: int, step: float, value: float, seconds: float = 1.0) -> str:
    return study.answer(study.reported(number, Report(step, value, seconds)), number)


def ended(study: Study, number: int, state: str = "stopped", value: float = 0.0, seconds: float = 2.0) -> None:
    outcome = Outcome(state, value) if state == "done" else Outcome("stopped", reason="It was told.")  # type: ignore[arg-type]
    study.take_in(study.ended(number, replace(outcome, seconds=seconds, began=10.0, worker=0), seconds))


def asked(study: Study) -> Trial:
    trial = study.ask()
    assert trial is not None
    return trial


def with_one_stopped(study: Study) -> None:
    """Trials 0 to 4; of these 2 was stopped when it was the second of three, and would be among the best third now."""
    for number, value in enumerate([3.0, 1.0, 2.0]):
        assert asked(study).number == number
        assert bool(said(study, number, 1.0, value)) == (number == 2)
    said(study, 2, 2.0, 9.0)  # until it hears of it
    ended(study, 2)
    assert study.resume() is None
    for number, value in enumerate([4.0, 5.0, 6.0], start=3):
        assert asked(study).number == number
        assert said(study, number, 1.0, value)
        ended(study, number)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)) as study:
        yield study


def test_one_that_is_among_the_best_by_now_goes_on_and_counts_once(study: Study) -> None:
    with_one_stopped(study)
    assert study.optimizer.found().nfev == 4
    trial = study.resume()
    assert trial is not None
    assert (trial.number, trial.state, trial.reason) == (2, "pending", None)
    assert [report.step for report in trial.reports] == [1.0, 2.0]
    assert study.optimizer.found().nfev == 3
    assert study.resume() is None
    assert said(study, 2, 3.0, 0.5, seconds=4.0) == ""
    ended(study, 2, "done", 0.25, seconds=5.0)
    trial = study.optimizer.trial(2)
    assert (trial.value, trial.seconds) == (0.25, 7.0)
    assert [report.seconds for report in trial.reports] == [1.0, 1.0, 6.0]  # those before it was stopped count, too
    assert study.optimizer.found().nfev == 4
    assert study.optimizer.evidence().y.tolist() == [0.25]


def test_it_may_be_stopped_again_at_another_place(study: Study) -> None:
    with_one_stopped(study)
    for number in (0, 1):
        said(study, number, 3.0, 1.0)
    assert study.resume() is not None
    assert said(study, 2, 3.0, 5.0).startswith("At step 3 it was number 3 of 3")
    ended(study, 2)
    assert study.resume() is None
    assert study.optimizer.trial(2).paused == 3
    assert replay(study.file).faithful  # type: ignore[arg-type]


def test_choices_and_decisions_to_go_on_are_replayed(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_one_stopped(study)
    assert study.resume() is not None
    for _ in range(3):  # by the model, which knows that trial 2 is pending and where the others would have ended
        number = asked(study).number
        ended(study, number, "done", float(number))
    ended(study, 2, "done", 1.0)
    asked(study)
    events = read_events(tmp_path / "run.db")
    resumed = [event for event in events if isinstance(event, Resumed)]
    last = max(event.id for event in events if isinstance(event, Ended) and event.id < resumed[0].id)
    assert [(event.number, event.seen) for event in resumed] == [(2, last)]
    later = [choice for choice in choices(events) if choice.asked.id > resumed[0].id]
    assert 2 in later[0].pending
    assert 2 not in later[-1].pending
    assert resumed[0] in later[0].news
    found = replay(tmp_path / "run.db")
    assert found.faithful
    assert found.decisions == 10 + 4 + 1
    monkeypatch.setitem(RULES, "ranks", Strict())
    differences = [(each.number, each.replayed) for each in replay(tmp_path / "run.db").differences]
    assert (2, {"resumed": None}) in differences


def test_a_driver_that_goes_on_knows_who_may(tmp_path: Path) -> None:
    for _ in range(2):
        with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)) as study:
            if not study.optimizer.trials:
                with_one_stopped(study)
                continue
            assert study.resume().number == 2  # type: ignore[union-attr]
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)) as study:  # the one before was killed
        assert [trial.number for trial in study.pending] == [0, 1, 2]
        assert study.resume() is None


def test_whoever_stopped_itself_or_is_forgotten_does_not_go_on(study: Study, tmp_path: Path) -> None:
    with_one_stopped(study)
    number = asked(study).number
    said(study, number, 1.0, 0.0)  # the best of all
    ended(study, number)
    assert study.resume() is None
    study.__exit__(None, None, None)
    forget(tmp_path / "run.db", [2])
    retry(tmp_path / "run.db", [3])
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN)) as again:
        assert again.resume() is None
        assert (again.optimizer.trial(3).state, again.optimizer.trial(3).paused) == ("pending", 0)


def test_without_resumable_nobody_goes_on(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(BOX, **{**GIVEN, "resumable": False})) as study:
        with_one_stopped(study)
        assert study.resume() is None
    assert "resumable" not in read_events(tmp_path / "run.db")[0].body["optimizer"]
    with pytest.raises(StudyError, match="resumable is False in the study and True in this call"):
        Study.open(tmp_path / "run.db", Settings.checked(BOX, **GIVEN))


def test_what_no_version_has_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="event 7, 'resumed'"):
        read_event(7, "resumed", 0, 0.0, {})
    with pytest.raises(StudyError, match="came later"):
        read_event(7, "resumed", 0, 0.0, {"seen": 7})


def test_a_state_is_restored_with_those_that_may_go_on(study: Study) -> None:
    from aegisbo import Optimizer

    with_one_stopped(study)
    ours = Optimizer.from_state(study.optimizer.state())
    assert ours.trials == study.optimizer.trials
    assert ours.ask().number == 2
    again = Optimizer.from_state(ours.state())
    assert again.trials[2].spent == 2.0
    assert again.ask().number == 6


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with closing(Hall(tmp_path / "run.db", budget=6, settings=Settings.checked(BOX, **GIVEN))) as hall:
        yield hall


def holder_of(hall: Hall, number: int) -> int | None:
    ledger = Ledger()
    for event in read_events(hall.path):
        ledger.apply(event)
    return ledger.holders.get(number, -1)


def test_any_copy_goes_on_with_it_and_no_other_takes_it(hall: Hall) -> None:
    first, second = hall.copy(), hall.copy()
    with_one_stopped(first)
    assert second.ask() is None  # the budget has no room
    resumed = second.resume()
    assert resumed is not None
    assert resumed.number == 2
    assert first.resume() is None
    assert holder_of(hall, 2) == second.id
    assert not first.spent
    ended(second, 2, "done", 0.5)
    for number in (0, 1):
        ended(first, number, "done", 1.0)
    assert first.spent
    assert first.resume() is None
    assert replay(hall.path).faithful


def test_a_copy_that_dies_while_it_goes_on_leaves_it_to_others(hall: Hall) -> None:
    first, second = hall.copy(), hall.copy()
    with_one_stopped(first)
    assert second.resume() is not None
    first.ask()  # sees the beat of the other
    hall.now += 11.0
    first.beat()
    taken = first.ask()
    assert isinstance(first, Shared)
    assert taken is not None
    assert taken.number == 2
    assert [report.step for report in taken.reports] == [1.0, 2.0]
    assert holder_of(hall, 2) == first.id
    assert replay(hall.path).faithful
