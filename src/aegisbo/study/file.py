"""The file of a study: how it is marked, made and read, and what its errors mean."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any

from aegisbo.address import Place
from aegisbo.errors import StudyError
from aegisbo.printable import printable

APPLICATION = 0x61656769  # "aegi": marks the file as a study
SCHEMA = 5  # of every study that this version reads
LOGS = ("-wal", "-journal")  # files that SQLite keeps beside one that is being written, or whose writer died
PATIENCE = 60.0  # seconds to wait for a reader that holds the file

LONGEST = 2**26  # bytes of one cell, far more than any event has
LONGEST_SQL = 10_000  # bytes of a statement, also of one that is part of the file

TABLE = """\
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- without gaps; SQLite keeps the last one in sqlite_sequence
    kind TEXT NOT NULL,
    number INTEGER,       -- of the trial, where it concerns one
    at REAL NOT NULL,     -- seconds since 1970
    body TEXT NOT NULL,   -- JSON
    sum INTEGER NOT NULL  -- CRC-32 of the JSON list [id, kind, number, at, body]
)"""
# Copies that share the study now, and the last sign of life of each: the only thing that is ever overwritten.
COPIES = "CREATE TABLE copies (id INTEGER PRIMARY KEY, beat REAL NOT NULL)"
OF_SQLITE = {  # tables that SQLite makes by itself
    "sqlite_sequence": "CREATE TABLE sqlite_sequence(name,seq)",
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
}


def create(path: Path, rows: Iterable[Any] = ()) -> None:
    """Make a study of these rows, whole or not at all: a process that is killed meanwhile leaves no partial file."""
    if path.name == ":memory:" or path.name.startswith("file:"):
        raise StudyError(f"{path.name!r} is an address of SQLite's: name a file, or leave the study out to keep none.")
    draft = path.with_name(f"{path.name}.{token_hex(4)}.new")  # a name that no file of the user has
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")  # nothing to undo, and no second file is left behind
            connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {TABLE};")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def rescue(connection: sqlite3.Connection, path: Path) -> Path:
    """Copy an open study that is no longer at `path` into a new file beside it, or among temporary files."""
    for folder in (path.parent, Path(gettempdir())):
        with suppress(OSError, sqlite3.DatabaseError):  # the folder is gone, or the disk is full
            copy = _reserved(folder, path)
            try:
                with closing(sqlite3.connect(copy)) as target:
                    connection.backup(target)
            except BaseException:
                copy.unlink()
                raise
            return copy
    raise StudyError(
        f"{path} was moved, deleted or replaced during the run, and no copy could be written, neither beside it nor in "
        f"{gettempdir()}: check both folders, and begin the run again."
    )


def _reserved(folder: Path, path: Path) -> Path:
    """Create a new file for the rescued study."""
    for k in count(1):
        copy = folder / f"{path.stem}.rescued{f'-{k}' * (k > 1)}{path.suffix}"
        if not has_log(copy):
            with suppress(FileExistsError):
                copy.touch(exist_ok=False)
                return copy
    raise AssertionError("there is always a next number")


def require_no_log(path: Path) -> None:
    """Refuse to begin a study beside the log of a missing one: SQLite would apply it to the new one."""
    for ending in LOGS:
        log = companion(path, ending)
        if log.exists() and log.stat().st_size > 0:
            raise StudyError(
                f"There is no {path}, but {log} is the log of a study that was killed, and holds results. If you have "
                f"deleted that study, delete it, too; if you have moved the study, move it along, as NEW-NAME{ending}."
            )


def require_own_log(path: Path) -> None:
    """Refuse the log of another study, which SQLite would mix into this one.

    Events are only ever added: those in the file must still be there when it is read with its log.
    """
    if not companion(path, "-wal").exists():
        return
    alone = _rows(path, alone=True)
    if alone is not None and not alone <= (_rows(path, alone=False) or set()):
        raise StudyError(
            f"{companion(path, '-wal')} is the log of another study, or damaged: delete or move it, and {path} is read "
            "without it."
        )


def _rows(path: Path, *, alone: bool) -> set[tuple[object, ...]] | None:
    """All events of a study; None if it is damaged."""
    try:
        with closing(reader(path, alone=alone)) as connection:
            return set(connection.execute("SELECT * FROM events").fetchall())
    except sqlite3.OperationalError:  # for example, it cannot be opened, which says nothing about its content
        raise
    except (sqlite3.DatabaseError, StudyError):
        return None


def is_study(path: Path) -> bool:
    """Whether a file is marked as a study, however damaged the rest is."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")


def checksum(id: int, kind: str, number: int | None, at: float, body: str) -> int:
    """The checksum of an event, which reveals later changes."""
    return zlib.crc32(json.dumps([id, kind, number, at, body]).encode())


def guarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Harden a connection: nothing in an untrusted file is run, and no cell fills the memory."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL)
    connection.set_authorizer(_permission)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _permission(action: int, _one: str | None, _other: str | None, _database: str | None, source: str | None) -> int:
    """Deny views, triggers (the source) and endless queries: a study has none of these."""
    plain = source is None and action != sqlite3.SQLITE_RECURSIVE
    return sqlite3.SQLITE_OK if plain else sqlite3.SQLITE_DENY


def _require_study(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that this version cannot continue, before reading more than the names of its tables."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StudyError(f"{path} is not a study: name another file.")
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if schema > SCHEMA:
        raise StudyError(f"{path} has schema {schema}, this version knows {SCHEMA}: update aegisbo.")
    if schema < SCHEMA:
        raise StudyError(
            f"{path} has schema {schema}, of aegisbo 0.1 or a preview of 0.2, which this version does not read: export "
            "it to a CSV file with that version, and begin another study --from that file."
        )
    _require_plain_tables(connection, path)
    damage = connection.execute("PRAGMA quick_check").fetchone()[0]
    if damage != "ok":
        raise damaged_file(path, damage)
    last = "SELECT coalesce(max(id), 0), coalesce((SELECT max(seq) FROM sqlite_sequence), 0) FROM events"
    found, written = connection.execute(last).fetchone()
    if found != written:
        raise damaged_file(path, f"it ends with event {found} instead of {written}")


def _require_plain_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with anything but the exact tables of a study: a view or a trigger would run."""
    known = {"events": TABLE, "copies": COPIES, **OF_SQLITE}
    names = set()
    for kind, name, table, text in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        if (kind, table) != ("table", name) or text is None or known.get(name) != text:
            raise damaged_file(path, f"its {kind} {name!r} is none that aegisbo has made")
        names.add(name)
    missing = {"events", "sqlite_sequence"} - names
    if missing:
        raise damaged_file(path, f"it has no table {min(missing)}")


def damaged_file(path: Place, why: object) -> StudyError:
    """The error for a study that was changed or damaged."""
    reason = printable(f"{why}")
    reason = f"{reason[:200]}..." if len(reason) > 200 else reason
    return StudyError(f"{path} is damaged ({reason}): restore it from a copy; nothing was changed.")


def require_no_folder(path: Path) -> None:
    """Refuse a directory."""
    if path.is_dir():
        raise StudyError(f"{path} is a directory: name a file.")


def reader(path: Path, *, alone: bool) -> sqlite3.Connection:
    """A read-only connection to a study; `alone` says that there is no log and no writer.

    Otherwise SQLite would make a log and an index beside the file, which a reader cannot remove. A writer that died
    without a write-ahead log has left a journal: only a connection that may write can read past it.
    """
    if path.stat().st_size == 0:
        raise StudyError(f"{path} is empty: name another file, or delete it.")
    mode = "rw" if companion(path, "-journal").exists() else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * alone}"
    connection = guarded(sqlite3.connect(address, PATIENCE, uri=True))
    try:
        _require_study(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def has_log(path: Path) -> bool:
    """Whether it has a writer, or one that died."""
    return any(companion(path, ending).exists() for ending in LOGS)


def companion(path: Path, ending: str) -> Path:
    """A file that SQLite keeps beside the study."""
    study = path.resolve()
    return study.with_name(study.name + ending)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the system into sentences with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = printable(str(error))[:300]
        for sign, meaning in {
            "malformed": "it is damaged: restore it from a copy; nothing was changed",  # first: the rest may be hostile
            "not decode": "it is damaged: restore it from a copy; nothing was changed",
            "too big": "it is damaged, or an event is too large for it: restore it from a copy",
            "full": "the disk is full: make room and run the same call again; what was finished is kept",
            "disk I/O": "the disk is full or fails: make room and run the same call again; what was finished is kept",
            "readonly": "it cannot be written to: check its permissions",
            "locked": "another program holds it: close that program",
            "unable to open": "it cannot be opened: check that its folder exists and can be written to",
            "not a database": "it is not a study, or damaged: name another file, or restore it from a copy",
        }.items():
            if sign in text:
                raise StudyError(f"Study file {path}: {meaning} ({text}).") from error
        raise StudyError(f"Study file {path}: {text}.") from error
    except UnicodeDecodeError as error:  # in SQLite's message
        raise damaged_file(path, error) from error
    except OSError as error:
        why = error.strerror or "it cannot be used"
        raise StudyError(f"Study file {path}: {why}: check its name, and the rights to its folder.") from error
