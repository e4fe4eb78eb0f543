"""Reads the events of a study while other processes may write to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from aegisbo.address import Address, Place
from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.study import server
from aegisbo.study.file import companion, explained, has_log, reader, require_no_folder, require_own_log
from aegisbo.study.lock import is_driven
from aegisbo.study.rows import Row, events_in

T = TypeVar("T")

READ = "SELECT id, kind, number, at, body, sum FROM events WHERE id > ? ORDER BY id"


def read_events(study: Place) -> list[Event]:
    """All events of a study, also while another process writes to it; no file is made beside it."""
    return _read(study, lambda rows: events_in(rows, study))


def read_rows(study: Place) -> list[Row]:
    """All events of a study as they are written down."""
    return _read(study, list)


def _read(study: Place, take: Callable[[Iterable[Row]], list[T]]) -> list[T]:
    if isinstance(study, Address):
        found = take(server.read_rows(study))
    else:
        with explained(study):
            if not study.exists():
                raise StudyError(f"There is no study file {study}: check the name.")
            require_no_folder(study)
            found = _undisturbed(study, take)
    if not found:
        raise StudyError(f"{study} holds nothing yet: its driver was killed, or has only just begun.")
    return found


def exists(study: Place) -> bool:
    """Whether there is such a study, or anything else in its place."""
    if isinstance(study, Address):
        return server.exists(study)
    with explained(study):
        return study.exists()


def _undisturbed(path: Path, take: Callable[[Iterable[Row]], list[T]]) -> list[T]:
    """Read the file; repeat if it was assumed to be at rest and a driver came meanwhile, or died while writing."""
    while True:
        before, journal = _at_rest(path), companion(path, "-journal").exists()
        try:
            if before is None and not is_driven(path):
                require_own_log(path)
            with closing(reader(path, alone=before is not None)) as connection:
                found = take(connection.execute(READ, (0,)).fetchall())
        except (sqlite3.DatabaseError, StudyError):
            died = not journal and companion(path, "-journal").exists()
            if not died and (before is None or before == _at_rest(path)):
                raise
        else:
            if before is None or before == _at_rest(path):
                return found


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """A stamp that changes when the file is written; None if it may be written now, or has a log to read."""
    if has_log(path) or is_driven(path):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
