"""An append-only table of events in an SQLite file; what has been appended survives a crash of anything."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegisbo.errors import StudyError

APPLICATION = 0x61656769  # "aegi": marks the file as a study
SCHEMA = 1
HEADER = b"SQLite format 3\x00"
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
                _require_study(path)
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
            connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {TABLE};")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_events(path: Path) -> list[Event]:
    """All events of a study, also while another process writes to it."""
    if not path.exists():
        raise StudyError(f"There is no study file {path}: check the name.")
    with _explained(path):
        _require_study(path)
        with closing(_reader(path)) as connection:
            events = _rows(connection, path)
    if not events:
        raise StudyError(f"{path} holds nothing yet: its driver was killed, or has only just begun.")
    return events


def _reader(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, PATIENCE, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        connection.close()
        if "unable to open" not in str(error):
            raise
        # A folder that cannot be written to: no driver can be at work there, so nothing can change under us.
        return sqlite3.connect(f"{address}&immutable=1", PATIENCE, uri=True)
    return connection


def _rows(connection: sqlite3.Connection, path: Path) -> list[Event]:
    rows = connection.execute("SELECT id, kind, number, at, body FROM events ORDER BY id").fetchall()
    try:
        return [Event(id, kind, number, at, json.loads(body)) for id, kind, number, at, body in rows]
    except ValueError as error:  # cut off within a page, which SQLite does not notice
        raise StudyError(f"{path} is damaged ({error}): restore it from a copy; nothing was changed.") from error


def _require_study(path: Path) -> None:
    """Refuse, without touching it, any file that this version cannot continue."""
    with path.open("rb") as file:
        header = file.read(len(HEADER))
    if header != HEADER:
        what = "is empty" if not header else "is not a study"
        raise StudyError(f"{path} {what}: name another file, or delete it to start anew.")
    with closing(_reader(path)) as connection:
        damage = connection.execute("PRAGMA quick_check").fetchone()[0]
        if damage != "ok":
            raise StudyError(f"{path} is damaged ({damage}): restore it from a copy; nothing was changed.")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise StudyError(f"{path} is an SQLite file, but not a study: name another file.")
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
            "not a database": "it is damaged or not a study: restore it from a copy; nothing was changed",
        }.items():
            if sign in text:
                raise StudyError(f"Study file {path}: {meaning} ({text}).") from error
        raise StudyError(f"Study file {path}: {text}.") from error
    except OSError as error:
        raise StudyError(f"Study file {path}: {error.strerror}.") from error
