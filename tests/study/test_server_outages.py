"""A study whose server is away for a while, step by step: what waits, what is told, and who is kept out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from postgresql import Server

import aegisbo
from aegisbo.address import Address, place_of
from aegisbo.errors import StudyError
from aegisbo.events import Changed, Ended
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study import Study, server_log
from aegisbo.study.lock import is_driven
from aegisbo.study.opening import beside
from aegisbo.study.outbox import Outbox
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.server import Unreachable, connected
from aegisbo.study.server_log import ServerLog
from aegisbo.study.shared import Shared

pytestmark = pytest.mark.long

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}
SETTINGS = Settings.checked(BOX, strategy="random", seed=3)
DONE = Outcome("done", 4.0, seconds=1.5, began=100.0, worker=0)


@pytest.fixture
def where(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Address:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(server_log, "PAUSE", (0.01, 0.02))
    address = place_of(postgres.study(tmp_path.name))
    assert isinstance(address, Address)
    return address


@pytest.fixture
def waiting(tmp_path: Path) -> Callable[[], list[str]]:
    """The files with results that wait."""
    return lambda: sorted(file.read_text() for file in tmp_path.glob("state/aegisbo/*"))


class Outage:
    """Nobody in this process reaches the server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch, self._honest = monkeypatch, server_log.connected

    def begin(self, *logs: Any) -> None:
        def away(address: Address) -> Any:
            raise Unreachable(f"The server of {address}: it cannot be reached.")

        self._patch.setattr(server_log, "connected", away)
        for log in logs:
            log._link.close()

    def end(self) -> None:
        self._patch.setattr(server_log, "connected", self._honest)


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    return Outage(monkeypatch)


@pytest.fixture
def driver(where: Address) -> Iterator[Study]:
    with Study.open(where, SETTINGS, call={"budget": 9}) as study:
        yield study


@pytest.fixture
def copies(where: Address) -> Iterator[Callable[[], Shared]]:
    opened: list[Shared] = []

    def one() -> Shared:
        opened.append(Shared.open(where, SETTINGS, lease=60.0, call={"budget": 9, "workers": 1}).__enter__())
        return opened[-1]

    yield one
    for copy in opened:
        copy.__exit__(None, None, None)


def kinds(where: Address) -> list[str]:
    return [event.kind for event in read_events(where)]


def test_a_result_waits_on_disk_and_is_told_once(
    driver: Study, outage: Outage, where: Address, waiting: Callable[[], list[str]]
) -> None:
    first, second = driver.ask(), driver.ask()
    outage.begin(driver._log)
    held = [driver.ended(trial.number, DONE) for trial in (first, second)]
    assert [event.id for event in held] == [0, 0]
    (text,) = waiting()
    assert text.count('"value": 4.0') == 2
    outage.end()
    time.sleep(server_log.PAUSE[1])
    late = driver.ended(first.number, DONE)  # must not overtake what waits: a choice would not know it
    assert late.id == 0
    for event in held:
        driver.take_in(event)
    assert kinds(where) == ["created", "opened", "asked", "asked", "told", "told"]
    assert driver.optimizer.tally().done == 2
    driver._log.release(late)
    assert waiting() == []


@pytest.mark.parametrize("shared", [False, True])
def test_results_of_a_process_that_was_killed_are_told_by_the_same_call(
    where: Address, outage: Outage, waiting: Callable[[], list[str]], shared: bool
) -> None:
    def opened() -> Study:
        return (
            Shared.open(where, SETTINGS, lease=60.0, call={"budget": 9, "workers": 1})
            if shared
            else Study.open(where, SETTINGS, call={"budget": 9})
        )

    killed = opened()
    trial, other = killed.ask(), killed.ask()
    assert trial is not None
    outage.begin(killed._log)
    killed.ended(trial.number, DONE)
    outage.end()
    killed._log.outbox._file = closed(killed._log.outbox._file)  # its lock goes with the process
    killed._resources.pop_all()
    assert len(waiting()) == 1
    with opened() as again:
        assert waiting() == []
        if not shared:
            assert [each.number for each in again.pending] == [other.number]
        told = [event for event in read_events(where) if event.kind == "told"]
        assert [(event.number, event.outcome.value) for event in told] == [(trial.number, 4.0)]
        assert kinds(where).count("late") == 0


def closed(file: int) -> int:
    os.close(file)
    return -1


def test_a_result_that_was_told_before_its_file_went_is_not_told_again(where: Address) -> None:
    with Study.open(where, SETTINGS) as study:
        trial = study.ask()
        event = study.ended(trial.number, DONE)
        key = study._log.outbox._key
    dead = Outbox(key)
    dead.hold(event)
    dead._file = closed(dead._file)
    with Study.open(where, SETTINGS):
        assert kinds(where).count("told") == 1
        assert "late" not in kinds(where)


def test_a_result_that_came_too_late_is_recorded_as_late(where: Address) -> None:
    with Study.open(where, SETTINGS) as study:
        trial = study.ask()
        study.ended(trial.number, DONE)
        key = study._log.outbox._key
    dead = Outbox(key)
    dead.hold(Ended(trial.number, Outcome("done", 5.0, seconds=2.0)))
    dead._file = closed(dead._file)
    with Study.open(where, SETTINGS):
        assert kinds(where)[-2:] == ["late", "opened"]
    assert aegisbo.load(where).trials[0].value == 4.0


def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    driver: Study, where: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ServerLog._commit

    def cut_off(log: ServerLog, link: Any) -> None:
        honest(log, link)
        monkeypatch.setattr(ServerLog, "_commit", honest)
        log._doubt = True
        link.close()
        raise Unreachable("The connection was cut.")

    for _ in range(2):
        monkeypatch.setattr(ServerLog, "_commit", cut_off)
        trial = driver.ask()
        monkeypatch.setattr(ServerLog, "_commit", cut_off)
        driver.take_in(driver.ended(trial.number, DONE))
    assert kinds(where) == ["created", "opened", *["asked", "told"] * 2]


def test_a_choice_of_a_copy_whose_commit_got_no_answer_is_run_by_it(
    copies: Callable[[], Shared], where: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, honest = copies(), ServerLog._commit

    def cut_off(log: ServerLog, link: Any) -> None:
        honest(log, link)
        monkeypatch.setattr(ServerLog, "_commit", honest)
        link.close()
        raise Unreachable("The connection was cut.")

    monkeypatch.setattr(ServerLog, "_commit", cut_off)
    trial = copy.ask()
    monkeypatch.setattr(ServerLog, "_commit", cut_off)
    copy.take_in(copy.ended(trial.number, DONE))
    assert kinds(where) == ["created", "joined", "asked", "told"]
    assert copy.ask().number == 1


def test_a_choice_that_was_written_just_before_the_server_went_away_is_run(
    copies: Callable[[], Shared], where: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, honest, reach = copies(), ServerLog._commit, server_log.connected

    def away(address: Address) -> Any:
        monkeypatch.setattr(server_log, "connected", reach)
        raise Unreachable("The server is away.")

    def and_then_away(log: ServerLog, link: Any) -> None:
        honest(log, link)
        monkeypatch.setattr(ServerLog, "_commit", honest)
        monkeypatch.setattr(server_log, "connected", away)
        link.close()

    monkeypatch.setattr(ServerLog, "_commit", and_then_away)
    assert copy.ask().number == 0
    assert copy.ask().number == 1
    assert kinds(where).count("asked") == 2


def test_the_server_ends_the_transaction_of_a_copy_that_was_suspended_in_it(
    copies: Callable[[], Shared], where: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Shared._append
    monkeypatch.setattr(server_log, "PATIENCE", 1)
    copy = copies()

    def suspended(copy: Shared, event: Any) -> Any:
        monkeypatch.setattr(Shared, "_append", honest)
        time.sleep(3.0)
        return honest(copy, event)

    monkeypatch.setattr(Shared, "_append", suspended)
    assert copy.ask().number == 0
    assert kinds(where) == ["created", "joined", "asked"]


def test_who_waits_is_told_and_gives_up_after_the_stated_time(
    where: Address, outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(server_log, "NOTICE", 0.0)
    monkeypatch.setattr(server_log, "GIVE_UP", 0.2)
    study = Study.open(where, SETTINGS, say=said.append)
    trial = study.ask()
    outage.begin(study._log)
    event = study.ended(trial.number, DONE)
    with pytest.raises(StudyError, match=r"gives up\. 1 result in .*\.results waits here: make the same call on this"):
        study.take_in(event)
    assert len(said) == 1
    assert "cannot be reached. Evaluations go on, and their results wait here" in said[0]
    outage.end()
    study.__exit__(None, None, None)


def test_a_signal_shortens_the_wait(driver: Study, outage: Outage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log, "HASTE", 0.0)
    outage.begin(driver._log)
    driver.hurry()
    with pytest.raises(StudyError, match="this call gives up"):
        driver.ask()
    outage.end()


def test_work_goes_on_when_the_server_is_back(driver: Study, outage: Outage, where: Address) -> None:
    outage.begin(driver._log)
    threading.Timer(0.2, outage.end).start()
    assert driver.ask().number == 0
    assert is_driven(where)
    assert replay(where).faithful


def test_a_driver_that_was_replaced_while_it_was_cut_off_cannot_write(
    where: Address, outage: Outage, waiting: Callable[[], list[str]]
) -> None:
    with Study.open(where, SETTINGS) as old:
        trial = old.ask()
        outage.begin(old._log)
        event = old.ended(trial.number, DONE)
        outage.end()
        with Study.open(where, SETTINGS) as new:
            assert [each.number for each in new.pending] == [trial.number]
            for write in (lambda: old.take_in(event), old.ask, lambda: old.closed("Enough.", [])):
                with pytest.raises(StudyError, match=r"now driven by another process \(process \d+ on "):
                    write()
            new.take_in(new.ended(trial.number, DONE))
        assert len(waiting()) == 1  # nothing finished is thrown away
    assert kinds(where) == ["created", "opened", "asked", "opened", "told"]
    assert aegisbo.load(where).nfev == 1


@pytest.mark.parametrize("first", ["driver", "copy"])
def test_one_driver_and_copies_replace_each_other(where: Address, outage: Outage, first: str) -> None:
    def driving() -> Study:
        return Study.open(where, SETTINGS, call={"budget": 9})

    def sharing() -> Study:
        return Shared.open(where, SETTINGS, lease=1e5, call={"budget": 9, "workers": 1})

    begin, replace = (driving, sharing) if first == "driver" else (sharing, driving)
    with begin() as old:
        with pytest.raises(StudyError, match="being driven by"):
            replace()
        outage.begin(old._log)
        outage.end()
        with replace() as new:
            other = "copies of" if first == "driver" else "another process"
            with pytest.raises(StudyError, match=f"now driven by {other}"):
                old.ask()
            assert new.ask() is not None


def test_waiting_ends_when_another_process_writes(driver: Study, where: Address) -> None:
    driver.stirred()

    def write() -> None:
        with closing(beside(where)) as other, other.transaction():
            other.append(Changed({"budget": 7}))

    threading.Timer(0.3, write).start()
    driver.wait(3600.0)
    assert driver.stirred()
    assert not driver.stirred()
    assert [event.body for event in driver.requests()] == [{"changes": {"budget": 7}}]


def test_a_server_restored_from_an_old_backup_is_noticed(driver: Study, where: Address) -> None:
    trial = driver.ask()
    with connected(where) as link:
        link.execute(
            "DELETE FROM aegisbo.events e USING aegisbo.studies s WHERE e.study = s.id AND s.name = %s AND e.id = 3",
            (where.study,),
        )
        link.execute("UPDATE aegisbo.studies SET last = 2 WHERE name = %s", (where.study,))
    with pytest.raises(StudyError, match="has lost events"):
        driver.ended(trial.number, DONE)


def test_an_event_that_somebody_changed_or_removed_is_noticed(driver: Study, where: Address) -> None:
    def alter(statement: str) -> None:
        with connected(where) as link:
            link.execute(f"{statement} AND study = (SELECT id FROM aegisbo.studies WHERE name = %s)", (where.study,))

    driver.take_in(driver.ended(driver.ask().number, DONE))
    alter("UPDATE aegisbo.events SET body = replace(body, '4.0', '3.0') WHERE kind = 'told'")
    with pytest.raises(StudyError, match="event 4 has another checksum"):
        read_events(where)
    alter("DELETE FROM aegisbo.events WHERE id = 3")
    with pytest.raises(StudyError, match="event 3 is missing"):
        aegisbo.load(where)


def test_tables_of_another_version_are_left_alone(where: Address, driver: Study) -> None:
    with connected(where) as link:
        link.execute("UPDATE aegisbo.version SET version = 2")
        try:
            with pytest.raises(StudyError, match="the tables have version 2, this aegisbo knows 1"):
                aegisbo.load(where)
        finally:
            link.execute("UPDATE aegisbo.version SET version = 1")
