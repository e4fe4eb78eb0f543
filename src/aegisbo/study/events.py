"""Events, and how they are read from the file of a study while others may write to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.study.file import companion, explained, has_log, reader, require_no_folder, require_own_log, require_study
from aegisbo.study.lock import is_driven


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    id: int
    kind: str
    number: int | None
    at: float
    body: Mapping[str, Any]


def read_events(path: Path) -> list[Event]:
    """All events of a study, also while another process writes to it; no file is made beside it."""
    if not path.exists():
        raise StudyError(f"There is no study file {path}: check the name.")
    require_no_folder(path)
    with explained(path):
        events = _undisturbed(path)
    if not events:
        raise StudyError(f"{path} holds nothing yet: its driver was killed, or has only just begun.")
    return events


def _undisturbed(path: Path) -> list[Event]:
    """Read the file; again, if it was taken to be at rest and a driver came meanwhile, or died when it wrote."""
    while True:
        before, journal = _at_rest(path), companion(path, "-journal").exists()
        try:
            if before is None and not is_driven(path):
                require_own_log(path)
            with closing(reader(path, alone=before is not None)) as connection:
                require_study(connection, path)
                events = rows(connection, path)
        except (sqlite3.DatabaseError, StudyError):
            died = not journal and companion(path, "-journal").exists()
            if not died and (before is None or before == _at_rest(path)):
                raise
        else:
            if before is None or before == _at_rest(path):
                return events


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file is written to; None if that may happen now, or if it has a log that must be read."""
    if has_log(path) or is_driven(path):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def rows(connection: sqlite3.Connection, path: Path, after: int = 0) -> list[Event]:
    """What has been appended since an event."""
    query = "SELECT id, kind, number, at, body FROM events WHERE id > ? ORDER BY id"
    rows = connection.execute(query, (after,)).fetchall()
    try:
        return [Event(id, kind, number, at, json.loads(body)) for id, kind, number, at, body in rows]
    except ValueError as error:  # cut off within a page, which SQLite does not notice
        raise StudyError(f"{path} is damaged ({error}): restore it from a copy; nothing was changed.") from error
