"""Studies that a test changes by hand, or has as versions before the checksums wrote them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from aegisbo.study.file import APPLICATION, UNSUMMED, checksum


def seal(path: Path) -> None:
    """Give every event of a study the checksum of what it holds now, as somebody could who means to mislead."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for row in connection.execute("SELECT id, kind, number, at, body FROM events").fetchall():
            connection.execute("UPDATE events SET sum = ? WHERE id = ?", (checksum(*row), row[0]))


def unsummed(path: Path) -> Path:
    """Let a study be as versions without checksums would have written it."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, kind, number, at, body FROM events").fetchall()
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1; {UNSUMMED};")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
    return path
