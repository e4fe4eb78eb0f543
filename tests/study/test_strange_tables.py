"""A study has plain tables of its own making: a file with anything else in it is refused before any of it runs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sealed import seal
from some_events import told
from typer.testing import CliRunner

import aegisbo
from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import StudyError
from aegisbo.review.record import Record
from aegisbo.runners.work import work
from aegisbo.study import add, change, file, forget, retry
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.store import Store

SPACE = {"u": (-5.0, 10.0)}
OPTIONS: dict[str, Any] = {"strategy": "random", "seed": 1, "executor": "serial", "progress": False}


def square(u: float) -> float:
    return u * u


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run.db"
    aegisbo.minimize(square, SPACE, budget=6, study=path, **OPTIONS)
    return path


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "run.db"))


def altered(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def reworded(path: Path, old: str, new: str) -> None:
    """Let the file say otherwise what its table is."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}')"
        )


VIEW = """
ALTER TABLE events RENAME TO hidden;
CREATE VIEW events AS SELECT * FROM hidden;
"""
ENDLESS = """
ALTER TABLE events RENAME TO hidden;
CREATE VIEW events AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
SELECT x AS id, 'told' AS kind, x AS number, 0.0 AS at, '{}' AS body, 0 AS sum FROM c;
"""
TRIGGER = "CREATE TRIGGER gone AFTER INSERT ON events BEGIN DELETE FROM events WHERE id > 1; END;"
STRANGE = {
    "view": VIEW,
    "endless view": ENDLESS,
    "trigger": TRIGGER,
    "index": "CREATE INDEX kinds ON events (kind);",
    "index of an expression": "CREATE INDEX kinds ON events (abs(number));",
    "another table": "CREATE TABLE notes (text TEXT);",
    "generated column": "ALTER TABLE events ADD COLUMN more AS (abs(id));",
    "default": "ALTER TABLE events ADD COLUMN more DEFAULT 1;",
    "table of another kind": "DROP TABLE IF EXISTS copies; CREATE TABLE copies (id INTEGER PRIMARY KEY, beat);",
}
DOORS: dict[str, Callable[[Path], object]] = {
    "load": load,
    "report and serve": Record.of_study,
    "export": lambda path: Record.of_study(path).table,
    "replay": replay,
    "retry": retry,
    "forget": lambda path: forget(path, [1]),
    "add": lambda path: add(path, {"u": 0.25}),
    "set": lambda path: change(path, budget=9),
    "observed": lambda path: aegisbo.minimize(square, SPACE, budget=1, observed=path, **OPTIONS),
    "minimize": lambda path: aegisbo.minimize(square, SPACE, budget=9, study=path, **OPTIONS),
    "work": lambda path: work(square, path, progress=False),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("strange", STRANGE)
def test_it_is_refused_at_every_door(study: Path, strange: str, door: str) -> None:
    altered(study, STRANGE[strange])
    before = study.read_bytes()
    with pytest.raises(StudyError, match=r"is damaged \(its \w+ '\w+' is none that aegisbo has made\)") as caught:
        DOORS[door](study)
    assert str(caught.value).count("\n") == 0
    assert study.read_bytes() == before
    assert [each.name for each in study.parent.iterdir()] == ["run.db"]


@pytest.mark.parametrize("command", [["show"], ["export"], ["set", "budget=9"], ["report"]])
def test_commands_refuse_it_too(study: Path, command: list[str]) -> None:
    altered(study, ENDLESS)
    found = CliRunner().invoke(app, [command[0], str(study), *command[1:]])
    assert isinstance(found.exception, StudyError)


@pytest.mark.parametrize("new", ["at REAL NOT NULL CHECK (at > 0)", "at REAL DEFAULT 1", "at"])
def test_a_table_in_other_words_is_refused(study: Path, new: str) -> None:
    reworded(study, "at REAL NOT NULL", new)
    with pytest.raises(StudyError, match="its table 'events' is none that aegisbo has made"):
        load(study)


def test_a_file_without_events_is_refused(study: Path) -> None:
    altered(study, "DROP TABLE events")
    with pytest.raises(StudyError, match="it has no table events"):
        load(study)


def test_a_file_that_sqlite_has_analysed_is_a_study(study: Path, whole: Path) -> None:
    altered(study, "ANALYZE; VACUUM")
    assert read_events(study) == read_events(whole)


def test_views_and_triggers_that_come_after_the_look_do_not_run_either(study: Path) -> None:
    """Somebody may write between the look at the tables and the reading of them."""
    with closing(Store(study, print, shared=True)) as store, closing(file.reader(study, alone=False)) as reader:
        altered(study, TRIGGER)
        with pytest.raises(StudyError, match=r"not authorized|prohibited"):
            store.append(told(0))
        altered(study, f"DROP TRIGGER gone; {ENDLESS}")
        with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
            reader.execute("SELECT * FROM events").fetchone()


def test_a_cell_that_would_fill_the_memory_is_refused(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "LONGEST", 100_000)
    altered(study, f"UPDATE events SET body = '{'[' * 200_000}' WHERE id = 3")
    with pytest.raises(StudyError, match="it is damaged"):
        load(study)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("UPDATE events SET body = replace(body, '1', '2') WHERE id = 3", "event 3 has another checksum"),
        ("UPDATE events SET kind = 'tolb' WHERE id = 4", "event 4 has another checksum"),
        ("UPDATE events SET number = 7 WHERE id = 4", "event 4 has another checksum"),
        ("UPDATE events SET at = at + 1 WHERE id = 4", "event 4 has another checksum"),
        ("DELETE FROM events WHERE id = 4", "event 4 is missing"),
        ("DELETE FROM events WHERE id = 1", "event 1 is missing"),
        ("DELETE FROM events WHERE id > 8", r"it ends with event 8 instead of 15"),
        ("DELETE FROM events", r"it ends with event 0 instead of 15"),
        (
            "UPDATE events SET id = -1 WHERE id = 3; UPDATE events SET id = 3 WHERE id = 4;"
            "UPDATE events SET id = 4 WHERE id = -1",
            "event 3 has another checksum",
        ),
        (
            "INSERT INTO events SELECT 16, kind, number, at, body, sum FROM events WHERE id = 4",
            "event 16 has another checksum",
        ),
    ],
)
def test_what_somebody_has_changed_is_named(study: Path, script: str, message: str) -> None:
    altered(study, script)
    with pytest.raises(StudyError, match=rf"run.db is damaged \({message}"):
        load(study)
    with pytest.raises(StudyError, match=message):
        change(study, budget=9)


def test_checksums_are_those_of_another_program(study: Path) -> None:
    """CRC-32 of a JSON list, as the page on design says: computed here bit by bit."""
    with closing(sqlite3.connect(study)) as connection:
        *row, sum = connection.execute("SELECT id, kind, number, at, body, sum FROM events WHERE id = 3").fetchone()
    register = 0xFFFFFFFF
    for byte in json.dumps(row).encode():
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0xEDB88320 * (register & 1))
    assert sum == register ^ 0xFFFFFFFF


def test_whoever_knows_how_can_still_change_it(study: Path) -> None:
    """A checksum is against damage, not against people: what it holds must make sense, too."""
    altered(study, "UPDATE events SET body = replace(body, 'seconds', 'secnods') WHERE kind = 'told'")
    seal(study)
    with pytest.raises(StudyError, match="seconds is None"):
        load(study)


@pytest.mark.parametrize("name", [":memory:", "file:x?mode=memory", "file:run.db"])
def test_addresses_of_sqlite_are_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError, match=r"is an address of SQLite's: name a file, or leave the study out"):
        aegisbo.minimize(square, SPACE, budget=2, study=name, **OPTIONS)
    assert list(tmp_path.iterdir()) == []
