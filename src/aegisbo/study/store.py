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
from time import monotonic
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.study.lock import is_driven

APPLICATION = 0x61656769  # "aegi": marks the file as a study
SCHEMA = 4  # the newest that is understood; a file has 1 until it holds an event that needs more
SINCE = (
    dict.fromkeys(("retried", "forgotten", "widened"), 2)
    | dict.fromkeys(("joined", "taken", "late", "left"), 3)
    | dict.fromkeys(("added", "set"), 4)
)
WITH_LOG = 18  # the byte of an SQLite file that is 2 if it has a write-ahead log
PATIENCE = 60.0  # seconds to wait for a reader that holds the file
FAREWELL = 5.0  # seconds for readers to leave, so that no log is left behind
TOUCH = "SELECT count(*) FROM events WHERE id < 0"  # opens the log

TABLE = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    number INTEGER,      -- of the trial, where it concerns one
    at REAL NOT NULL,    -- seconds since 1970
    body TEXT NOT NULL   -- JSON
)
"""

# Copies that share the study at this moment, and when each last said so: all that is ever overwritten.
COPIES = "CREATE TABLE IF NOT EXISTS copies (id INTEGER PRIMARY KEY, beat REAL NOT NULL)"


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    id: int
    kind: str
    number: int | None
    at: float
    body: Mapping[str, Any]


class Store:
    """Appends events to one file. Safe to use from several threads.

    One process at a time, which others must see to; several if each says that it is `shared`. Others may write
    `beside` them, to a study that they have read.
    """

    def __init__(self, path: Path, say: Callable[[str], None], *, shared: bool = False, beside: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._shared = shared
        self._beside = beside
        self._version: int | None = None  # SQLite's count of what others have written
        self._log: tuple[int, int] | None = None  # the write-ahead log, if we keep one
        with _explained(path):
            if beside:
                pass
            elif path.exists():
                _require_no_folder(path)
                with closing(_reader(path, alone=_unused(path, shared=shared))) as look:
                    _require_study(look, path)
                if not os.access(path, os.W_OK):  # SQLite would notice it too late to leave no log behind
                    raise StudyError(f"Study file {path}: it cannot be written to: check its permissions.")
            else:
                _create(path.resolve())
            self._connect(say)

    def append(self, kind: str, number: int | None, body: Mapping[str, Any]) -> int:
        """Write one event to disk, for good, and return its id."""
        row = (kind, number, time.time(), json.dumps(body))
        with self._lock, _explained(self.path):
            if kind in SINCE:
                self.require_schema(SINCE[kind])
            self._notice_removal()
            event = self._insert(row)
            if self._notice_removal() and self._row(event) != row:
                event = self._insert(row)
            return event

    def events(self, after: int = 0) -> list[Event]:
        """Everything that has been appended since an event."""
        with self._lock, _explained(self.path):
            return _rows(self._connection, self.path, after)

    def changed(self) -> bool:
        """Whether another process or connection has written since the last call; at first, one may have."""
        with self._lock, _explained(self.path):
            self._notice_removal()
            before = self._version
            (self._version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return before != self._version

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is read and appended meanwhile happens at one moment, or not at all."""
        with self._lock, _explained(self.path):
            if self._connection.in_transaction:  # a signal came when the last one was being undone
                self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def beats(self) -> dict[int, float]:
        """When each copy last said that it is there, by its own clock."""
        with self._lock, _explained(self.path):
            return dict(self._connection.execute("SELECT id, beat FROM copies").fetchall())

    def beat(self, copy: int) -> None:
        """Say that a copy is there."""
        with self._lock, _explained(self.path):
            self._connection.execute("INSERT OR REPLACE INTO copies VALUES (?, ?)", (copy, time.time()))

    def stop_beating(self, copy: int) -> None:
        """Take a copy off the list."""
        with self._lock, _explained(self.path):
            self._connection.execute("DELETE FROM copies WHERE id = ?", (copy,))

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        with self._lock, _explained(self.path):
            self._connection.close()
            deadline = monotonic() + FAREWELL
            while self._log is not None and _beside(self.path, "-wal").exists() and monotonic() < deadline:
                time.sleep(0.02)  # somebody reads, who cannot fold it in: whoever copies the file needs all of it
                with closing(sqlite3.connect(self.path, PATIENCE)) as last:
                    last.execute(TOUCH)

    def require_schema(self, schema: int) -> None:
        """Let versions refuse the file that do not know this schema, and would misread it."""
        with self._lock, _explained(self.path):
            if self._connection.execute("PRAGMA user_version").fetchone()[0] < schema:
                self._connection.execute(f"PRAGMA user_version = {schema}")

    def _insert(self, row: tuple[Any, ...]) -> int:
        cursor = self._connection.execute("INSERT INTO events (kind, number, at, body) VALUES (?, ?, ?, ?)", row)
        return int(cursor.lastrowid or 0)

    def _row(self, event: int) -> tuple[Any, ...] | None:
        found = self._connection.execute("SELECT kind, number, at, body FROM events WHERE id = ?", (event,)).fetchone()
        return found and tuple(found)

    def _notice_removal(self) -> bool:
        """Whether another program has removed the write-ahead log under us; the file is opened again then.

        It may do so after anything in this process, such as a copy made by the user's function, has opened and closed
        the file, which drops all locks of the process. What was in the log is in the file; what we would add to it
        would be lost.
        """
        if self._log is None or self._connection.in_transaction or self._log == _identity(_beside(self.path, "-wal")):
            return False
        self._connection.close()
        if not self.path.exists():
            raise StudyError(f"{self.path} was removed while the run went on: what had ended until then is lost.")
        self._connect(lambda text: None)
        return True

    def _connect(self, say: Callable[[str], None]) -> None:
        self._connection = sqlite3.connect(self.path, PATIENCE, isolation_level=None, check_same_thread=False)
        self._version = None
        try:
            self._prepare(say)
        except BaseException:
            self._connection.close()
            raise

    def _journal(self, mode: str) -> str:
        """Begin or give up the write-ahead log when nobody reads or writes, for which SQLite does not wait itself."""
        deadline = monotonic() + PATIENCE
        while True:
            try:
                return str(self._connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0])
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _prepare(self, say: Callable[[str], None]) -> None:
        self._connection.execute("PRAGMA synchronous = FULL")
        if self._beside:
            return
        if self._shared:  # maybe by several machines, which a write-ahead log does not allow
            self._journal("DELETE")
            self._connection.execute(COPIES)
            return
        if self._journal("WAL") == "wal":
            self._connection.execute(TOUCH)
            self._log = _identity(_beside(self.path, "-wal"))
        else:  # file systems without shared memory, such as most network ones
            self._journal("DELETE")
            say(f"{self.path} lies where SQLite has no write-ahead log: every event takes a little longer.")


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


def is_study(path: Path) -> bool:
    """Whether a file calls itself a study, however damaged the rest of it is."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")


def read_events(path: Path) -> list[Event]:
    """All events of a study, also while another process writes to it; no file is made beside it."""
    if not path.exists():
        raise StudyError(f"There is no study file {path}: check the name.")
    _require_no_folder(path)
    with _explained(path):
        events = _undisturbed(path)
    if not events:
        raise StudyError(f"{path} holds nothing yet: its driver was killed, or has only just begun.")
    return events


def _undisturbed(path: Path) -> list[Event]:
    """Read the file; again, if it was taken to be at rest and a driver came meanwhile, or died when it wrote."""
    while True:
        before, journal = _at_rest(path), _beside(path, "-journal").exists()
        try:
            with closing(_reader(path, alone=before is not None)) as connection:
                _require_study(connection, path)
                events = _rows(connection, path)
        except (sqlite3.DatabaseError, StudyError):
            died = not journal and _beside(path, "-journal").exists()
            if not died and (before is None or before == _at_rest(path)):
                raise
        else:
            if before is None or before == _at_rest(path):
                return events


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file is written to; None if that may happen now, or if it has a log that must be read."""
    if _has_log(path) or is_driven(path):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is that lies there; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _has_log(path: Path) -> bool:
    return _beside(path, "-wal").exists() or _beside(path, "-journal").exists()


def _beside(path: Path, ending: str) -> Path:
    study = path.resolve()
    return study.with_name(study.name + ending)


def _unused(path: Path, *, shared: bool) -> bool:
    """Whether nobody reads or writes the file, for one who has the lock of the driver or of the copies."""
    if not shared or not path.is_file() or _has_log(path):
        return not _has_log(path)
    with path.open("rb") as file:
        header = file.read(WITH_LOG + 1)
    return header[WITH_LOG:] == b"\x02"  # copies keep no write-ahead log


def _require_no_folder(path: Path) -> None:
    if path.is_dir():
        raise StudyError(f"{path} is a directory: name a file.")


def _reader(path: Path, *, alone: bool) -> sqlite3.Connection:
    """A connection that changes nothing; `alone` says that there is no log and nobody writes.

    Else SQLite would make a log and an index beside the file, which a reader cannot remove. Who died while it wrote
    without a write-ahead log has left a journal: only who may write can read past it, and so SQLite tidies up.
    """
    if path.stat().st_size == 0:
        raise StudyError(f"{path} is empty: name another file, or delete it.")
    mode = "rw" if _beside(path, "-journal").exists() else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * alone}"
    return sqlite3.connect(address, PATIENCE, uri=True)


def _rows(connection: sqlite3.Connection, path: Path, after: int = 0) -> list[Event]:
    query = "SELECT id, kind, number, at, body FROM events WHERE id > ? ORDER BY id"
    rows = connection.execute(query, (after,)).fetchall()
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
