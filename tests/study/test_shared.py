"""Several copies on one study, step by step: who holds what, who counts, and what everybody knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from shared_copies import BOX, Hall

from aegisbo import Optimizer, load
from aegisbo.address import place_of
from aegisbo.errors import InvalidInput, SpaceExhausted, StudyError
from aegisbo.events import Event, Taken
from aegisbo.optimizer import Core, Settings
from aegisbo.outcome import Outcome
from aegisbo.space import Int
from aegisbo.study import change, forget, retry, server_log
from aegisbo.study.ledger import Ledger
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.shared import Shared
from aegisbo.study.state import State
from aegisbo.study.store import Store


@pytest.fixture
def hall(place: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hall]:
    """On a file or a server; the server has been up for long."""
    monkeypatch.setattr(server_log, "SILENCES", server_log.SILENCES.replace("pg_postmaster_start_time()", "beat"))
    with closing(Hall(place_of(place))) as hall:
        yield hall


def value_of(trial) -> float:
    return (trial.params["u"] - 2.0) ** 2 + 3.0 * trial.params["v"]


def finish(copy: Shared, trial) -> None:
    copy.ended(trial.number, Outcome("done", value_of(trial), seconds=1.5, began=100.0, worker=0, output="hm\n"), 1.5)


def kinds(hall: Hall) -> list[str]:
    return [event.kind for event in read_events(hall.path)]


def reasons(hall: Hall, kind: str) -> list[str]:
    return [event.body["reason"] for event in read_events(hall.path) if event.kind == kind]


def alive(hall: Hall) -> set[int]:
    ledger = Ledger()
    for event in read_events(hall.path):
        ledger.apply(event)
    return set(ledger.copies)


def test_copies_choose_as_one_optimizer_would(hall: Hall) -> None:
    """Interleaved by chance, with the model at work: the witness is one optimizer that is asked and told the same."""
    hall.settings = Settings.checked(BOX, seed=5, n_initial=4)
    rng, copies = np.random.default_rng(0), [hall.copy() for _ in range(3)]
    alone, running = Optimizer.over(Core(hall.settings)), []
    for _ in range(18):
        if running and rng.random() < 0.5:
            copy, trial = running.pop(rng.integers(len(running)))
            finish(copy, trial)
            alone.end(trial.number, Outcome("done", value_of(trial)))
        else:
            copy = copies[rng.integers(3)]
            trial = copy.ask()
            assert trial is not None
            assert alone.ask().params == trial.params
            running.append((copy, trial))
    assert replay(hall.path).differences == ()


def test_a_copy_that_follows_events_knows_what_one_knows_that_reads_them_all(hall: Hall) -> None:
    first, second = hall.copy(), hall.copy(retries=0)
    trials = [first.ask() for _ in range(4)]
    finish(first, trials[0])
    second.ended(1, Outcome("timed_out", reason="slow", seconds=2.0, began=50.0, worker=0), 2.0)
    first.ended(2, Outcome("failed", reason="no", traceback="Traceback", seconds=0.5, began=7.0, worker=0), 0.5)
    forget(hall.path, [2])
    retry(hall.path, [0])
    first.closed("Enough.", [])
    trials += [second.ask(), second.ask()]
    finish(second, trials[-1])
    second.catch_up()
    assert second.optimizer.state() == State.after(read_events(hall.path)).optimizer.state()
    assert [trial.state for trial in second.optimizer.trials] == ["pending", "timed_out", "forgotten", "done"]


def test_a_choice_that_was_overtaken_is_made_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns are a courtesy: whoever chose without knowing of another choice must not write it down."""
    slow, quick = hall.copy(), hall.copy()
    honest, overtaken = Core.choose, []

    def overtake(core: Core, within: float | None):
        trial = honest(core, within)
        if not overtaken:
            overtaken.append(trial)
            monkeypatch.setattr(Core, "choose", honest)
            overtaken.append(quick.ask())
        return trial

    monkeypatch.setattr(Core, "choose", overtake)
    trial = slow.ask()
    assert [each.number for each in overtaken] == [0, 0]
    assert trial is not None
    assert trial.number == 1
    found = replay(hall.path)
    assert (found.decisions, found.differences) == (2, ())


def test_the_budget_is_met_exactly_and_is_the_studys(hall: Hall) -> None:
    hall.budget = 3
    first, second = hall.copy(), hall.copy(budget=None)  # which asks the study
    trials = [first.ask(), second.ask(), first.ask()]
    assert first.ask() is second.ask() is None
    assert not first.spent
    for copy, trial in zip((first, second, first), trials, strict=True):
        finish(copy, trial)
    assert second.ask() is None
    assert second.spent
    assert second.budget == 3
    third = hall.copy(budget=4)
    assert second.ask() is not None  # the last number that was given holds for all
    assert third.ask() is None


def test_a_smaller_budget_leaves_free_trials_alone(hall: Hall) -> None:
    first = hall.copy()
    trials = [first.ask() for _ in range(3)]
    first.closed("Enough.", [])
    second = hall.copy(budget=2)
    assert [second.ask(), second.ask(), second.ask()] == [*trials[:2], None]
    for trial in trials[:2]:
        finish(second, trial)
    assert second.ask() is None
    assert second.spent


def test_a_study_without_a_budget_is_refused(hall: Hall) -> None:
    with pytest.raises(InvalidInput, match="has no budget: give the total"):
        hall.copy(budget=None)
    with pytest.raises(StudyError, match="holds nothing yet"):
        load(hall.path)


def test_a_silent_copy_loses_its_trial_after_its_lease_and_not_before(hall: Hall) -> None:
    silent, other = hall.copy(), hall.copy(budget=1)
    trial = silent.ask()
    assert other.ask() is None
    hall.now += 9.0
    assert other.ask() is None
    silent.beat()
    hall.now += 9.0
    assert other.ask() is None  # it has given a sign of life meanwhile; without a server, it is seen only now
    hall.now += 11.0
    again = other.ask()
    assert again == trial
    assert kinds(hall)[-3:] == ["lost", "left", "taken"]
    assert reasons(hall, "lost")[0].endswith("did not report for 10 seconds.")
    finish(other, again)
    assert other.ask() is None
    assert other.spent


def test_each_copy_is_judged_by_the_lease_that_it_asked_for(hall: Hall) -> None:
    hall.lease = 1000.0
    patient = hall.copy()
    patient.ask()
    hall.lease = 1.0
    other = hall.copy(budget=1)
    assert other.ask() is None
    hall.now += 999.0
    assert other.ask() is None
    hall.now += 2.0
    assert other.ask() is not None


@pytest.mark.parametrize("late_first", [True, False])
def test_the_first_result_counts_and_the_other_is_late(hall: Hall, late_first: bool) -> None:
    """A copy was only suspended, and comes back when another one runs its trial."""
    suspended, other = hall.copy(), hall.copy(budget=1)
    trial = suspended.ask()
    other.ask()
    hall.now += 11.0
    again = other.ask()
    order = [(suspended, 1.0), (other, 2.0)] if late_first else [(other, 2.0), (suspended, 1.0)]
    for copy, value in order:
        copy.ended(trial.number, Outcome("done", value, seconds=1.0, worker=0), 1.0)
    assert again == trial
    ends = [(event.kind, event.body["value"]) for event in read_events(hall.path) if event.kind in ("told", "late")]
    assert ends == [("told", order[0][1]), ("late", order[1][1])]
    for copy in (suspended, other):
        assert copy.ask() is None
        assert copy.spent
        assert copy.optimizer.trials[0].value == order[0][1]
    result = load(hall.path)
    assert (result.nfev, result.fun) == (1, order[0][1])


def test_a_copy_that_comes_back_is_a_copy_again(hall: Hall) -> None:
    suspended, other = hall.copy(), hall.copy(budget=2)
    trial = suspended.ask()
    other.ask()  # hears of it for the first time, and takes the second trial
    hall.now += 11.0
    assert other.ask() == trial
    suspended.beat()
    hall.now += 11.0
    suspended.beat()
    assert other.ask() is None
    other.closed("Stopped.", [])  # gives both back
    suspended.beat()
    holders = {event.number: event.body["copy"] for event in read_events(hall.path) if event.kind == "taken"}
    assert holders == {0: suspended.id}  # which still runs it
    second = suspended.ask()
    assert second is not None
    assert second.number == 1
    assert suspended.ask() is None


def test_a_copy_that_was_given_up_joins_again_before_it_takes_anything(hall: Hall) -> None:
    """Else nobody would ever miss it, and what it holds would never be free again."""
    suspended, other = hall.copy(), hall.copy()
    other.ask()
    hall.now += 11.0
    other.ask()
    assert suspended.id not in alive(hall)
    trial = suspended.ask()  # before its heart beats again
    assert suspended.id in alive(hall)
    hall.budget = 3
    third = hall.copy()
    assert third.ask() is None
    hall.now += 11.0
    other.beat()
    assert third.ask() == trial


def test_what_a_copy_still_runs_becomes_its_own_again_when_the_other_one_dies(hall: Hall) -> None:
    """And is not handed to it a second time."""
    suspended, other = hall.copy(), hall.copy(budget=1)
    trial = suspended.ask()
    other.ask()
    hall.now += 11.0
    assert other.ask() == trial
    assert suspended.ask() is None
    hall.now += 11.0
    assert suspended.ask() is None
    assert [event.body["copy"] for event in read_events(hall.path) if event.kind == "taken"] == [other.id, suspended.id]


def test_what_is_given_back_is_taken_at_once_and_is_no_loss(hall: Hall) -> None:
    trial = hall.copy().ask()
    for _ in range(5):  # more often than retries allow for a loss
        copy = hall.copy(alone=True)
        assert copy.ask() == trial
        copy.closed("Stopped by SIGTERM.", [])
        copy.beat()  # of a heart that has not stopped yet
    assert kinds(hall)[-1] == "left"
    copy = hall.copy()
    assert copy.ask() == trial
    finish(copy, trial)
    assert load(hall.path).trials[0].state == "done"


def test_a_copy_that_begins_alone_need_not_wait_for_the_dead(hall: Hall) -> None:
    killed = hall.copy()
    trial = killed.ask()
    assert hall.copy(alone=True).ask() == trial
    assert reasons(hall, "lost")[0].endswith("was killed.")


def test_a_trial_that_kills_its_copies_fails_in_the_end(hall: Hall) -> None:
    runs = 0
    while (copy := hall.copy(alone=True, retries=2)).ask().number == 0:  # and is killed
        runs += 1
    assert runs == 3
    copy.catch_up()
    assert copy.optimizer.trials[0].state == "failed"
    assert copy.optimizer.trials[0].reason.startswith("Its worker or its copy died 3 times: Its copy (process ")


def test_a_lost_worker_leaves_the_trial_with_its_copy(hall: Hall) -> None:
    """Which runs it again itself, as every loop does."""
    copy, other = hall.copy(), hall.copy(budget=1)
    trial = copy.ask()
    copy.ended(trial.number, Outcome("lost", reason="killed", worker=0), 0.5)
    assert other.ask() is None
    finish(copy, trial)
    assert other.ask() is None
    assert other.spent


def test_a_forgotten_trial_gives_its_place_to_another_and_its_result_is_late(hall: Hall) -> None:
    hall.budget = 2
    copy = hall.copy()
    trials = [copy.ask(), copy.ask()]
    assert copy.ask() is None
    forget(hall.path, [0])
    trials.append(copy.ask())
    for trial in trials:
        finish(copy, trial)
    assert copy.ask() is None
    assert copy.spent
    assert [trial.state for trial in load(hall.path).trials] == ["forgotten", "done", "done"]
    assert kinds(hall).count("late") == 1
    assert replay(hall.path).differences == ()


def test_second_thoughts_during_a_choice_make_it_anew(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, honest = hall.copy(), Core.choose
    finish(copy, copy.ask())

    def disturbed(core: Core, within: float | None):
        monkeypatch.setattr(Core, "choose", honest)
        trial = honest(core, within)
        forget(hall.path, [0])
        return trial

    monkeypatch.setattr(Core, "choose", disturbed)
    trial = copy.ask()
    forgotten = next(event for event in read_events(hall.path) if event.kind == "forgotten")
    asked = next(event for event in read_events(hall.path) if event.number == trial.number)
    assert asked.body["seen"] >= forgotten.id
    assert replay(hall.path).differences == ()


def test_a_finite_space_ends_only_when_nothing_runs(hall: Hall) -> None:
    hall.settings = Settings.checked({"k": Int(1, 2)}, strategy="random", seed=0)
    copy, other = hall.copy(), hall.copy()
    first, second = copy.ask(), other.ask()
    assert copy.ask() is None  # the other one may still be killed
    copy.ended(first.number, Outcome("done", 1.0, worker=0), 1.0)
    other.ended(second.number, Outcome("done", 2.0, worker=0), 1.0)
    with pytest.raises(SpaceExhausted):
        copy.ask()


def test_workers_of_all_copies_have_numbers_of_their_own(hall: Hall) -> None:
    copies = [hall.copy(workers=2), hall.copy(workers=1), hall.copy(workers=2)]
    copies[0].closed("Enough.", [])
    copies.append(hall.copy(workers=2))
    for copy in copies[1:]:
        finish(copy, copy.ask())
    assert [trial.worker for trial in load(hall.path).trials] == [2, 3, 0]


def test_a_transaction_that_fails_leaves_no_trace(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = hall.copy()
    before = kinds(hall)

    def full(event: Event) -> None:
        raise StudyError("The disk is full.")

    monkeypatch.setattr(copy, "_learn", full)  # when the choice has been written, and not for good
    with pytest.raises(StudyError, match="full"):
        copy.ask()
    monkeypatch.undo()
    assert kinds(hall) == before
    copy.closed("Enough.", [])  # and it does not believe that it holds the trial
    assert kinds(hall) == [*before, "left"]


def test_a_change_is_heeded_whose_number_an_undone_event_had(hall: Hall) -> None:
    copy = hall.copy()
    trial, last = copy.ask(), read_events(hall.path)[-1].id
    with pytest.raises(TypeError, match="not JSON"), copy._writing():
        copy._append(Taken(trial.number, copy.id)) + copy._append(Taken(trial.number, copy))
    change(hall.path, budget=77)
    assert read_events(hall.path)[-1].id == last + 1
    copy.catch_up()
    assert [event.body["changes"] for event in copy.requests()] == [{"budget": 77}]
    with pytest.raises(StudyError, match="full"), copy._writing():
        raise StudyError("The disk is full.")
    copy.beat()  # which reads everything again
    assert copy.requests() == []


def test_a_change_is_heeded_although_a_transaction_fails_before_it_is(hall: Hall) -> None:
    copy = hall.copy()
    change(hall.path, budget=77)
    with pytest.raises(StudyError, match="full"), copy._writing():  # which has read it
        raise StudyError("The disk is full.")
    copy.beat()
    assert [event.body["changes"] for event in copy.requests()] == [{"budget": 77}]


def test_an_event_is_followed_once_although_all_are_read_again_meanwhile(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, other = hall.copy(), hall.copy()
    for _ in range(3):
        other.ask()
    followed, honest = [], Core.apply

    def disturbed(optimizer: Core, event: Event) -> None:
        honest(optimizer, event)
        followed.append(event.id)
        if len(followed) == 1:  # the heart of this copy fails to beat, and then it beats
            with pytest.raises(StudyError, match="full"), copy._writing():
                raise StudyError("The disk is full.")
            copy.beat()

    monkeypatch.setattr(Core, "apply", disturbed)
    copy.catch_up()
    copy.catch_up()
    assert len(followed) == len(set(followed)) >= 3
    assert copy.optimizer.state() == State.after(read_events(hall.path)).optimizer.state()


def test_copies_refuse_another_run_and_wider_bounds(hall: Hall) -> None:
    hall.copy()
    ours = hall.settings
    hall.settings = replace(ours, seed=4)
    with pytest.raises(StudyError, match="seed is 3 in the study and 4 in this call"):
        hall.copy()
    hall.settings = Settings.checked({**BOX, "u": (-6.0, 10.0)}, strategy="random")
    with pytest.raises(StudyError, match="copies cannot change them"):
        hall.copy()
    assert kinds(hall) == ["created", "joined"]


def test_copies_give_up_the_write_ahead_log_which_would_need_one_machine(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "run.db", print)):
        pass
    with closing(Hall(tmp_path / "run.db")) as hall:
        hall.copy()
    with closing(sqlite3.connect(tmp_path / "run.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_what_one_copy_observes_elsewhere_all_know(hall: Hall) -> None:
    first, second = hall.copy(), hall.copy()
    pair, failed = ({"u": 1.0, "v": 2.5}, Outcome("done", 4.0)), ({"u": 9.0, "v": 2.5}, Outcome("failed", reason="no"))
    finish(second, second.ask())
    first.learn([[pair, failed]])
    second.learn([[pair], [failed]])
    second.ask()
    for copy in (first, second):
        copy.catch_up()
        assert [(t.number, t.state, t.value, t.reason) for t in copy.optimizer.observed] == [
            (-1, "done", 4.0, None), (-2, "failed", None, "no"),
        ]  # fmt: skip
        assert copy.optimizer.state() == State.after(read_events(hall.path)).optimizer.state()
    assert replay(hall.path).differences == ()


def test_copies_hear_of_changes_when_they_read(hall: Hall) -> None:
    hall.budget = 3
    first, second = hall.copy(), hall.copy()
    trials = [first.ask() for _ in range(3)]
    assert second.ask() is None
    change(hall.path, budget=4, trial_timeout=5.0)
    assert (first.requests(), second.requests()) == ([], [])  # nobody has read yet
    first.beat()
    assert [event.body["changes"] for event in first.requests()] == [{"budget": 4, "trial_timeout": 5.0}]
    assert first.requests() == []
    assert second.ask() is not None
    assert len(second.requests()) == 1
    assert hall.copy().requests() == []  # which has joined since
    assert hall.copy().changed == {"budget": 4, "trial_timeout": 5.0}
    change(hall.path, budget=2)
    for trial in trials:
        finish(first, trial)
    assert first.ask() is None
    assert first.spent
    with pytest.raises(InvalidInput, match="workers is each copy's own while copies of `aegisbo work` share"):
        change(hall.path, workers=2)
