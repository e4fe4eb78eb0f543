"""Requests beside a driver or copies, or to a study at rest: on disk, in order, replayed, or refused in a sentence."""

from __future__ import annotations

import platform
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from driven import ask
from sealed import seal
from shared_copies import Hall

from aegisbo import load
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.events import Event, Opened
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study import Study, add
from aegisbo.study import store as store_module
from aegisbo.study.lock import DriverLock
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State
from aegisbo.study.store import Store

BOX = [(-5, 10), (2, 3)]
A, B = {"x0": 1.0, "x1": 2.5}, {"x0": 2.0, "x1": 2.5}
SETTINGS = Settings.checked(BOX, strategy="random", seed=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Study.open(tmp_path / "run.db", SETTINGS) as study:
        ask(study, 0.0)
        study.ended(0, Outcome("done", 1.5), 0.1)
        study.closed("Enough.", [])
    return tmp_path / "run.db"


def test_a_study_at_rest_keeps_them_for_the_next_driver(path: Path) -> None:
    assert add(path, [1, 2.5]) == A
    add(path, B)
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]
    assert load(path).message == "Enough. Since then points were added: make the same call again to continue."
    with Study.open(path, SETTINGS) as study:
        live = study.optimizer
        assert live.waiting == (A, B)
        assert study.requests() == []
        for _ in range(3):
            ask(study, 0.0)
        assert [trial.params for trial in live.trials[1:3]] == [A, B]
        assert State.after(read_events(path)).optimizer.state() == live.state()
    found = replay(path)
    assert (found.decisions, found.differences) == (4, ())


def test_a_driver_hears_of_each_once_however_it_comes(path: Path) -> None:
    with Study.open(path, SETTINGS) as study:
        assert study.requests() == []
        add(path, A)
        ask(study, 0.0)  # what the driver writes itself is no request
        add(path, B)
        assert [(event.kind, event.body) for event in study.requests()] == [
            ("added", {"params": A}), ("added", {"params": B}),
        ]  # fmt: skip
        study.ended(1, Outcome("done", 1.0), 0.1)
        assert study.requests() == []


def test_one_that_comes_while_the_study_is_opened_is_heard_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, other = Store.append, Thread(target=add, args=(path, A))

    def later(store: Store, event: Event) -> Event:
        if isinstance(event, Opened):
            monkeypatch.setattr(Store, "append", honest)
            other.start()
            other.join(0.2)  # it waits until the study is open
        return honest(store, event)

    monkeypatch.setattr(Store, "append", later)
    with Study.open(path, SETTINGS) as study:
        other.join()
        assert study.optimizer.waiting == ()
        assert [event.body["params"] for event in study.requests()] == [A]


@pytest.mark.long
def test_another_process_writes_beside_the_driver_and_leaves_its_log_alone(path: Path) -> None:
    program = f"from aegisbo.study import add; add({str(path)!r}, {A!r})"
    with Study.open(path, SETTINGS) as study:
        subprocess.run([sys.executable, "-c", program], check=True)
        assert path.with_name("run.db-wal").exists()
        assert [event.body["params"] for event in study.requests()] == [A]
        add(path, B)  # within the driving process, whose locks must stay
        looks = f"from aegisbo.study.lock import *; raise SystemExit(not is_driven(Path({str(path)!r})))"
        subprocess.run([sys.executable, "-c", looks], check=True)
        study.closed("Enough.", [])
    assert State.after(read_events(path)).optimizer.waiting == (A, B)


def test_copies_take_them_first_and_each_of_them_once(tmp_path: Path) -> None:
    with closing(Hall(tmp_path / "run.db")) as hall:
        first, second = hall.copy(), hall.copy()
        points = [{"u": 1.0, "v": 2.25}, {"u": 1.0, "v": 2.75}]
        trials = [first.ask()]
        for point in points:
            add(hall.path, point)
        with closing(sqlite3.connect(hall.path)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        trials += [second.ask(), first.ask(), second.ask()]
        assert [trial.params for trial in trials[1:3]] == points
        assert [trial.note["move"] for trial in trials].count("added") == 2
        for copy in (first, second):
            copy.catch_up()
            assert copy.optimizer.state() == State.after(read_events(hall.path)).optimizer.state()
        found = replay(hall.path)
        assert (found.decisions, found.differences) == (4, ())


def test_a_replay_notices_a_point_that_was_not_the_one_asked_for(path: Path) -> None:
    add(path, A)
    with Study.open(path, SETTINGS) as study:
        ask(study, 0.0)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("""UPDATE events SET body = replace(body, '"x0": 1.0', '"x0": 1.25') WHERE kind = 'asked'""")
        connection.commit()
    seal(path)
    assert [each.number for each in replay(path).differences] == [1]


def test_bad_points_and_files_get_one_sentence_and_change_nothing(path: Path) -> None:
    before = path.read_bytes()
    for wrong, message in (
        ([1], "x must hold 2 values, got"),
        ([99, 2.5], "Parameter 'x0': 99.0 is not within"),
        (load(path).trials[0].params, "Trial 0 is at .* and is done with the value 1.5: nothing to add"),
    ):
        with pytest.raises(InvalidInput, match=message):
            add(path, wrong)
    with pytest.raises(StudyError, match="There is no study file"):
        add(path.with_name("none.db"), A)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]


def test_a_driver_on_another_machine_is_not_disturbed(path: Path) -> None:
    with closing(Store(path, print)) as store:
        store.append(Opened(7, platform.node() + "-other", {}))
    add(path, A)  # nobody drives it now
    with (
        DriverLock(path),
        pytest.raises(StudyError, match=r"driven by process 7 on .*-other.*run the same command there"),
    ):
        add(path, B)


def test_a_driver_that_begins_waits_for_one_who_writes_just_then(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Store(path, print, shared=True)):  # after which there is no write-ahead log
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        waits: list[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            writer.execute("ROLLBACK")

        monkeypatch.setattr(store_module.time, "sleep", wait)
        with Study.open(path, SETTINGS):
            assert len(waits) == 1
