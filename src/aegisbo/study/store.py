"""An append-only table of events in an SQLite file; what has been appended survives a crash of anything."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.study.lock import is_driven

APPLICATION = 0x61656769  # "aegi": marks the file as a study
SCHEMA = 2  # the newest that is understood; a file has 1 until it holds an event of `SINCE_2`
SINCE_2 = ("retried", "forgotten", "widened")  # whoever does not know these would misread the file
PATIENCE = 60.0  # seconds to wait for a reader that holds the file

TABLE = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    number INTEGER,      -- of the trial, where it concerns one
    at REAL NOT NULL,    -- seconds since 1970
    body TEXT NOT NULL   -- JSON
)
"""


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    id: int
    kind: str
    number: int | None
    at: float
    body: Mapping[str, Any]


class Store:
    """Appends events to one file. Safe to use from several threads; one process at a time, which others must see to."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        self.path = path
        self._lock = threading.Lock()
        with _explained(path):
            if path.exists():
                with closing(_reader(path, alone=not _log(path).exists())) as look:
                    _require_study(look, path)
                if not os.access(path, os.W_OK):  # SQLite would notice it too late to leave no log behind
                    raise StudyError(f"Study file {path}: it cannot be written to: check its permissions.")
            else:
                _create(path.resolve())
            self._connection = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(say)
            except BaseException:
                self._connection.close()
                raise

    def append(self, kind: str, number: int | None, body: Mapping[str, Any]) -> int:
        """Write one event to disk, for good, and return its id."""
        row = (kind, number, time.time(), json.dumps(body))
        with self._lock, _explained(self.path):
            if kind in SINCE_2:
                self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
            cursor = self._connection.execute("INSERT INTO events (kind, number, at, body) VALUES (?, ?, ?, ?)", row)
            return int(cursor.lastrowid or 0)

    def events(self) -> list[Event]:
        """Everything that has been appended."""
        with self._lock, _explained(self.path):
            return _rows(self._connection, self.path)

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        with self._lock, _explained(self.path):
            self._connection.close()

    def _prepare(self, say: Callable[[str], None]) -> None:
        mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":  # file systems without shared memory, such as most network ones
            self._connection.execute("PRAGMA journal_mode = DELETE")
            say(f"{self.path} lies where SQLite has no write-ahead log: every event takes a little longer.")
        self._connection.execute("PRAGMA synchronous = FULL")


def _create(path: Path) -> None:
    """Make an empty study, whole or not at all: whoever is killed meanwhile leaves no half of one in the way."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")  # nothing to go back to, and no second file to leave behind
            connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1; {TABLE};")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_events(path: Path) -> list[Event]:
    """All events of a study, also while another process writes to it; no file is made beside it."""
    if not path.exists():
        raise StudyError(f"There is no study file {path}: check the name.")
    with _explained(path):
        events = _undisturbed(path)
    if not events:
        raise StudyError(f"{path} holds nothing yet: its driver was killed, or has only just begun.")
    return events


def _undisturbed(path: Path) -> list[Event]:
    """Read the file; again, if it was taken to be at rest and a driver came meanwhile."""
    while True:
        before = _at_rest(path)
        try:
            with closing(_reader(path, alone=before is not None)) as connection:
                _require_study(connection, path)
                events = _rows(connection, path)
        except (sqlite3.DatabaseError, StudyError):
            if before is None or before == _at_rest(path):
                raise
        else:
            if before is None or before == _at_rest(path):
                return events


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file is written to; None if that may happen now, or if it has a log that must be read."""
    if _log(path).exists() or is_driven(path):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _log(path: Path) -> Path:
    study = path.resolve()
    return study.with_name(study.name + "-wal")


def _reader(path: Path, *, alone: bool) -> sqlite3.Connection:
    """A connection that changes nothing; `alone` says that there is no log and nobody writes.

    Else SQLite would make a log and an index beside the file, which a reader cannot remove.
    """
    if path.is_dir() or path.stat().st_size == 0:
        what = "is a directory: name a file" if path.is_dir() else "is empty: name another file, or delete it"
        raise StudyError(f"{path} {what}.")
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' * alone}"
    return sqlite3.connect(address, PATIENCE, uri=True)


def _rows(connection: sqlite3.Connection, path: Path) -> list[Event]:
    rows = connection.execute("SELECT id, kind, number, at, body FROM events ORDER BY id").fetchall()
    try:
        return [Event(id, kind, number, at, json.loads(body)) for id, kind, number, at, body in rows]
    except ValueError as error:  # cut off within a page, which SQLite does not notice
        raise StudyError(f"{path} is damaged ({error}): restore it from a copy; nothing was changed.") from error


def _require_study(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse any file that this version cannot continue."""
    damage = connection.execute("PRAGMA quick_check").fetchone()[0]
    if damage != "ok":
        raise StudyError(f"{path} is damaged ({damage}): restore it from a copy; nothing was changed.")
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StudyError(f"{path} is not a study: name another file.")
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if schema > SCHEMA:
        raise StudyError(f"{path} has schema {schema}, this version knows {SCHEMA}: update aegisbo.")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's complaints into sentences with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        for sign, meaning in {
            "full": "the disk is full: make room and run the same call again; what was finished is kept",
            "disk I/O": "the disk is full or fails: make room and run the same call again; what was finished is kept",
            "readonly": "it cannot be written to: check its permissions",
            "locked": "another program holds it: close that program",
            "unable to open": "it cannot be opened: check that its folder exists and can be written to",
            "malformed": "it is damaged: restore it from a copy; nothing was changed",
            "not a database": "it is not a study, or damaged: name another file, or restore it from a copy",
        }.items():
            if sign in text:
                raise StudyError(f"Study file {path}: {meaning} ({text}).") from error
        raise StudyError(f"Study file {path}: {text}.") from error
    except OSError as error:
        raise StudyError(f"Study file {path}: {error.strerror}.") from error
