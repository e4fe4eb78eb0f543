"""What readers see of a study that copies share: while they work, after they were killed, in the middle of a write."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from review.made_studies import Script
from shared_copies import Hall
from some_events import told

from aegisbo import load
from aegisbo.events import Created
from aegisbo.outcome import Outcome
from aegisbo.review.record import Record
from aegisbo.review.timeline import evaluations_of
from aegisbo.study import store as store_module
from aegisbo.study.lock import DriverLock
from aegisbo.study.reading import read_events
from aegisbo.study.state import State
from aegisbo.study.store import Store


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with closing(Hall(tmp_path / "run.db")) as hall:
        yield hall


def test_the_copies_at_work_are_counted(hall: Hall) -> None:
    host = platform.node()
    copies = [hall.copy() for _ in range(3)]
    with DriverLock(hall.path, shared=True):
        assert load(hall.path).message == f"Running: 3 copies at work (3 on {host})."
        copies[0].closed("Enough.", [{"busy": 3.0, "pool": 1.0}])
        copies[1].closed("Enough.", [{"busy": 4.0, "pool": 0.0}])
        assert load(hall.path).message == f"Running: 1 copy at work (1 on {host})."
    assert load(hall.path).message == (
        f"Killed: copies did not end by themselves (1 on {host}). Start `aegisbo work` again to continue."
    )
    copies[2].closed("The budget is spent.", [])
    assert load(hall.path).message == "The budget is spent."
    assert load(hall.path).idle == {"pool": 1.0 / 8.0}


def test_a_sitting_lasts_as_long_as_anybody_works() -> None:
    script = Script()
    joined = [script.add("joined", None, at, lease=60.0, call={}, lane=lane) for at, lane in ((10.0, 0), (12.0, 1))]
    script.add("left", None, 15.0, copy=joined[0], message="", idle=[])
    script.asked(0, 16.0)  # and everybody is killed
    script.add("lost", 0, 99.0, reason="", seconds=None, buried=True)
    script.add("left", None, 99.0, copy=joined[1], message="", idle=[], buried=True)
    script.add("joined", None, 99.0, lease=60.0, call={}, lane=0)
    script.told(0, 100.0, 101.0, worker=0)
    assert State.after(script.events).drivers.sittings == [(1010.0, 1016.0), (1099.0, 1101.0)]


def test_the_timeline_shows_who_ran_what(hall: Hall) -> None:
    silent, other = hall.copy(), hall.copy(budget=1)
    trial = silent.ask()
    other.ask()
    hall.now += 11.0
    other.ask()
    for copy in (other, silent):
        copy.ended(trial.number, Outcome("done", 1.0, seconds=0.0, worker=0), 0.0)
    times = {event.kind: event.at for event in read_events(hall.path) if event.number == 0}
    interrupted, done = evaluations_of(Record.of_study(hall.path))
    assert (interrupted.state, interrupted.started, interrupted.ended) == ("interrupted", times["asked"], times["lost"])
    assert (done.state, done.worker, done.ended) == ("done", 1, times["told"])


def test_a_write_that_was_cut_off_is_undone_by_whoever_reads_next(tmp_path: Path) -> None:
    """Without a write-ahead log, half a transaction is in the file itself; a journal knows what was there before."""
    path, cut = tmp_path / "run.db", tmp_path / "cut"
    cut.mkdir()
    with closing(Store(path, print, shared=True)) as store:
        for number in range(300):
            store._connection.execute("PRAGMA synchronous = OFF")
            store.append(told(number, "x" * 300))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 5")  # so that it must write before it commits
        connection.execute("BEGIN IMMEDIATE")
        connection.execute('UPDATE events SET body = \'{"text": "torn"}\'')
        for name in ("run.db", "run.db-journal"):
            shutil.copy(tmp_path / name, cut / name)  # as a kill would leave them
        connection.execute("ROLLBACK")
    assert b"torn" in (cut / "run.db").read_bytes()
    assert read_events(cut / "run.db") == read_events(path)
    assert b"torn" not in (cut / "run.db").read_bytes()
    assert [file.name for file in cut.iterdir()] == ["run.db"]


def test_copies_wait_for_a_reader_of_the_log_that_they_give_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, print)) as store:
        store.append(Created({}, {}))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        waits: list[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            reader.close()

        monkeypatch.setattr(store_module.time, "sleep", wait)
        with closing(Store(path, print, shared=True)) as store:
            assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert len(waits) == 1
