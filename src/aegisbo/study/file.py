"""The file of a study, for all who open it: what marks it, how it is made and read, and what its faults mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex

from aegisbo.errors import StudyError

APPLICATION = 0x61656769  # "aegi": marks the file as a study
SCHEMA = 4  # the newest that is understood; a file has 1 until it holds an event that needs more
SINCE = (
    dict.fromkeys(("retried", "forgotten", "widened"), 2)
    | dict.fromkeys(("joined", "taken", "late", "left"), 3)
    | dict.fromkeys(("added", "set"), 4)
)
LOGS = ("-wal", "-journal")  # what SQLite keeps beside a file that is written to, or whose writer died
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


def create(path: Path) -> None:
    """Make an empty study, whole or not at all: whoever is killed meanwhile leaves no half of one in the way."""
    draft = path.with_name(f"{path.name}.{token_hex(4)}.new")  # a name that no file of the user has
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")  # nothing to go back to, and no second file to leave behind
            connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1; {TABLE};")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def require_no_log(path: Path) -> None:
    """Refuse to begin a study beside the log of one that is gone: SQLite would take it for the log of the new one."""
    for ending in LOGS:
        log = companion(path, ending)
        if log.exists() and log.stat().st_size > 0:
            raise StudyError(
                f"There is no {path}, but {log} is the log of a study that was killed, and holds results. If you have "
                f"deleted that study, delete it, too; if you have moved the study, move it along, as NEW-NAME{ending}."
            )


def require_own_log(path: Path) -> None:
    """Refuse the log of another study, which SQLite would mix into this one.

    Events are only ever added: what is in the file must also be there when it is read with its log.
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
    """All that the events of a study hold; None if it is damaged."""
    try:
        with closing(reader(path, alone=alone)) as connection:
            require_study(connection, path)
            return set(connection.execute("SELECT * FROM events").fetchall())
    except (sqlite3.DatabaseError, StudyError):
        return None


def is_study(path: Path) -> bool:
    """Whether a file calls itself a study, however damaged the rest of it is."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:] == APPLICATION.to_bytes(4, "big")


def require_study(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse any file that this version cannot continue."""
    damage = connection.execute("PRAGMA quick_check").fetchone()[0]
    if damage != "ok":
        raise StudyError(f"{path} is damaged ({damage}): restore it from a copy; nothing was changed.")
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StudyError(f"{path} is not a study: name another file.")
    schema = connection.execute("PRAGMA user_version").fetchone()[0]
    if schema > SCHEMA:
        raise StudyError(f"{path} has schema {schema}, this version knows {SCHEMA}: update aegisbo.")


def require_no_folder(path: Path) -> None:
    """Refuse a directory."""
    if path.is_dir():
        raise StudyError(f"{path} is a directory: name a file.")


def reader(path: Path, *, alone: bool) -> sqlite3.Connection:
    """A connection that changes nothing; `alone` says that there is no log and nobody writes.

    Else SQLite would make a log and an index beside the file, which a reader cannot remove. Who died while it wrote
    without a write-ahead log has left a journal: only who may write can read past it, and so SQLite tidies up.
    """
    if path.stat().st_size == 0:
        raise StudyError(f"{path} is empty: name another file, or delete it.")
    mode = "rw" if companion(path, "-journal").exists() else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' * alone}"
    return sqlite3.connect(address, PATIENCE, uri=True)


def has_log(path: Path) -> bool:
    """Whether somebody writes to it, or died when writing."""
    return any(companion(path, ending).exists() for ending in LOGS)


def companion(path: Path, ending: str) -> Path:
    """A file that SQLite keeps beside it."""
    study = path.resolve()
    return study.with_name(study.name + ending)


@contextmanager
def explained(path: Path) -> Iterator[None]:
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
