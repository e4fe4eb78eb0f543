"""Reads events from the file of a study while other processes may write to it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.events import Event, read_event
from aegisbo.study.file import (
    checksum,
    companion,
    damaged_file,
    explained,
    has_log,
    reader,
    require_no_folder,
    require_own_log,
)
from aegisbo.study.lock import is_driven

DEEPEST = 100  # most levels of brackets in an event, far more than any has


def read_events(path: Path) -> list[Event]:
    """All events of a study, also while another process writes to it; no file is made beside it."""
    with explained(path):
        if not path.exists():
            raise StudyError(f"There is no study file {path}: check the name.")
        require_no_folder(path)
        events = _undisturbed(path)
    if not events:
        raise StudyError(f"{path} holds nothing yet: its driver was killed, or has only just begun.")
    return events


def _undisturbed(path: Path) -> list[Event]:
    """Read the file; repeat if it was assumed to be at rest and a driver came meanwhile, or died while writing."""
    while True:
        before, journal = _at_rest(path), companion(path, "-journal").exists()
        try:
            if before is None and not is_driven(path):
                require_own_log(path)
            with closing(reader(path, alone=before is not None)) as connection:
                events = rows(connection, path)
        except (sqlite3.DatabaseError, StudyError):
            died = not journal and companion(path, "-journal").exists()
            if not died and (before is None or before == _at_rest(path)):
                raise
        else:
            if before is None or before == _at_rest(path):
                return events


def _at_rest(path: Path) -> tuple[int, int, int] | None:
    """A stamp that changes when the file is written; None if it may be written now, or has a log to read."""
    if has_log(path) or is_driven(path):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def rows(connection: sqlite3.Connection, path: Path, after: int = 0) -> list[Event]:
    """The events appended after event `since`.

    Raises:
        StudyError: an event is missing, is not as it was written, or makes no sense.
    """
    query = "SELECT id, kind, number, at, body, sum FROM events WHERE id > ? ORDER BY id"
    found = []
    for next, (id, kind, number, at, text, sum) in enumerate(connection.execute(query, (after,)), start=after + 1):
        if id != next:
            raise damaged_file(path, f"event {next} is missing")
        try:
            intact = sum == checksum(id, kind, number, at, text)
            body = json.loads(text)
            deep = text.count("[") + text.count("{") > DEEPEST and _depth(body) > DEEPEST
        except (ValueError, TypeError, RecursionError) as error:  # not JSON
            raise damaged_file(path, f"event {id}: {error}") from error
        if not intact:
            raise damaged_file(path, f"event {id} has another checksum than when it was written")
        if deep:
            raise damaged_file(path, f"event {id} is nested too deeply")
        found.append(read_event(id, kind, number, at, body))
    return found


def _depth(value: Any) -> int:
    """How deeply JSON is nested; without recursion, which has a limit."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [part for each in inner for part in each]
    return depth
