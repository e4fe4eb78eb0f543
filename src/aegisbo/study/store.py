"""An append-only table of events in an SQLite file; appended events survive any crash."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from aegisbo.errors import StudyError
from aegisbo.events import Closed, Event
from aegisbo.study.file import (
    COPIES,
    PATIENCE,
    checksum,
    companion,
    create,
    explained,
    guarded,
    has_log,
    reader,
    require_no_folder,
    require_no_log,
    require_own_log,
    rescue,
)
from aegisbo.study.lock import DriverLock, claimed, writer_of
from aegisbo.study.reading import READ
from aegisbo.study.rows import Row, events_in

WITH_LOG = 18  # this byte of an SQLite file is 2 if it has a write-ahead log
FAREWELL = 5.0  # seconds for readers to leave, so that no log is left behind
LONG = 24 * 3600.0  # seconds for which a copy waits for one that was suspended while it held the file
HASTE = 10.0  # seconds for all remaining writes once the process must end
NOTICE = 30.0  # seconds of waiting before it says what for
ATTEMPT = 0.5  # seconds of waiting inside SQLite, where Python does not notice a signal
TOUCH = "SELECT count(*) FROM events WHERE id < 0"  # opens the log

INSERT = """
INSERT INTO events (id, kind, number, at, body, sum)
SELECT next, ?1, ?2, ?3, ?4, checksum(next, ?1, ?2, ?3, ?4) FROM (SELECT coalesce(max(id), 0) + 1 AS next FROM events)
"""


T = TypeVar("T")
E = TypeVar("E", bound=Event)
New = tuple[str, int | None, float, str]  # kind, number, at, body


class Store:
    """Appends events to one file. Safe to use from several threads.

    Callers must make sure that only one process has it open, or several that are all `shared`. Others may write
    `beside` them to a study that they have read.
    """

    rest = 1.0  # seconds between two looks for what others have written

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None],
        *,
        shared: bool = False,
        beside: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.path = path  # as the user wrote it
        self.file = path.resolve()  # once: the program may change its folder
        self.moved = ""  # a message, if the file was moved away and the study is now in another one
        self._lock = threading.RLock()
        self._shared = shared
        self._beside = beside
        self._say = say
        self.patience = PATIENCE  # seconds for which another process may hold a shared file
        self.waited = 0.0  # total seconds for which one did
        self._deadline = inf  # when to stop waiting
        self._clock = clock
        self._heard: dict[int, tuple[float, float]] = {}  # the last beat of each copy, and when we first saw it
        self._version: int | None = None  # SQLite's counter of writes by others
        self._log: tuple[int, int] | None = None  # the write-ahead log, if we keep one
        self._guard = -1  # a descriptor of the file, if we keep a log
        self._locks = ExitStack()  # of the new file, if the study had to move
        with explained(path):
            if beside:
                pass
            elif path.exists():
                require_no_folder(path)
                require_own_log(path)
                reader(path, alone=_unused(path, shared=shared)).close()  # refuses a file that is no study
                if not os.access(path, os.W_OK):  # SQLite would notice it too late to leave no log behind
                    raise StudyError(f"Study file {path}: it cannot be written to: check its permissions.")
            else:
                require_no_log(path)
                create(self.file)
            self._connect(say)
            self._identity = _identity(self.file)
        self.patience = LONG  # from now on this copy has something to lose

    def append(self, event: E) -> E:
        """Write one event to disk and return it with its place there."""
        row = _row_of(event)
        with self._lock, explained(self.path):
            self._notice_removal()
            id = self._insert(row)
            if self._notice_removal() and self._row(id) != row:
                id = self._insert(row)
            return replace(event, id=id, at=row[2])

    def events(self, after: int = 0) -> list[Event]:
        """All events appended after an event."""
        with self._lock, explained(self.path):
            return self._patiently(lambda: events_in(self._rows(after), self.path, after))

    def news(self, after: int) -> list[Event]:
        """The events appended after an event, if another process or connection has written since the last call."""
        with self._lock, explained(self.path):
            self._notice_removal()
            before = self._version
            (self._version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return [] if before == self._version else self.events(after)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Reads and appends inside are one transaction."""
        with self._lock, explained(self.path):
            self._notice_removal()
            if self._connection.in_transaction:  # a signal interrupted the rollback of the last one
                self._connection.execute("ROLLBACK")
            self._patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"))
            try:
                yield
                self._patiently(lambda: self._connection.execute("COMMIT"))
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def silences(self) -> dict[int, float]:
        """Seconds since the last sign of life of each copy was first seen: clocks of machines are never compared."""
        with self._lock:
            beats, now = self.beats(), self._clock() - self.waited  # when others could not write either
            for copy, beat in beats.items():
                if copy not in self._heard or self._heard[copy][0] != beat:
                    self._heard[copy] = beat, now
            return {copy: now - self._heard[copy][1] for copy in beats}

    def beats(self) -> dict[int, float]:
        """The last sign of life of each copy, by its own clock."""
        with self._lock, explained(self.path):
            return dict(self._patiently(lambda: self._connection.execute("SELECT id, beat FROM copies").fetchall()))

    def beat(self, copy: int) -> None:
        """Record a sign of life of a copy."""
        with self._lock, explained(self.path):
            self._connection.execute("INSERT OR REPLACE INTO copies VALUES (?, ?)", (copy, time.time()))

    def stop_beating(self, copy: int) -> None:
        """Take a copy off the list."""
        with self._lock, explained(self.path):
            self._connection.execute("DELETE FROM copies WHERE id = ?", (copy,))

    def close(self) -> None:
        """Merge the write-ahead log into the file and close it."""
        with self._lock, self._locks, explained(self.path):
            try:
                self._notice_removal()
            finally:
                self._disconnect()
            deadline = monotonic() + FAREWELL
            while self._log is not None and companion(self.file, "-wal").exists() and monotonic() < deadline:
                time.sleep(0.02)  # a reader is in the way; wait, so that a copy of the file is complete
                if self._taken_away():
                    break
                with closing(self._opened()) as last:
                    last.execute(TOUCH)

    def stirred(self) -> bool:
        """Whether others are known to have written: one has to look."""
        return False

    def wait(self, seconds: float) -> None:
        """Rest before the next look."""
        time.sleep(seconds)

    def left(self) -> Iterator[Event]:
        """Results that wait elsewhere: none."""
        return iter(())

    def settle(self) -> None:
        """They have been told."""

    def fold(self) -> None:
        """Merge the write-ahead log into the file, which makes room in the log."""
        with self._lock, explained(self.path):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def hurry(self) -> None:
        """Shorten all waiting, because this process must end; a signal handler may call it."""
        self._deadline = monotonic() + HASTE

    def _patiently(self, call: Callable[[], T]) -> T:
        """Do what another process may block: copies wait for one that was suspended while writing, and say so."""
        waited, said = 0.0, False
        while True:
            began = monotonic()
            try:
                return call()
            except sqlite3.OperationalError as error:
                if not self._shared or "locked" not in str(error):
                    raise
                time.sleep(0.05)  # where SQLite does not wait by itself
                waited += monotonic() - began
                self.waited += monotonic() - began
                if waited > self.patience or monotonic() > self._deadline:
                    raise StudyError(f"{self._stuck(waited)} What this copy has not written yet is lost.") from error
                if waited > NOTICE and not said:
                    said = True
                    self._say(f"{self._stuck(waited)} This copy waits for it, {LONG / 3600:g} hours at most.")

    def _stuck(self, seconds: float) -> str:
        who, pid = writer_of(self.file)
        remedy = f"let it continue (kill -CONT {pid}) or kill it" if pid else "let it continue or kill it"
        return f"{self.path}: {who} has held it for {seconds:.0f} seconds and may be suspended: {remedy}."

    def _insert(self, row: New) -> int:
        return int(self._connection.execute(INSERT, row).lastrowid or 0)

    def _rows(self, after: int) -> list[Row]:
        return self._connection.execute(READ, (after,)).fetchall()

    def _row(self, event: int) -> tuple[Any, ...] | None:
        found = self._connection.execute("SELECT kind, number, at, body FROM events WHERE id = ?", (event,)).fetchone()
        return found and tuple(found)

    def _notice_removal(self) -> bool:
        """Whether another program has removed the file or its write-ahead log; if so, open it again.

        The log can be removed once anything in this process, such as the user's function making a copy, has opened and
        closed the file, which drops all locks of the process. The content of the log is then in the file, but anything
        we added to the log would be lost.
        """
        if self._beside or self._connection.in_transaction:
            return False
        if self._taken_away():
            self._go_on_elsewhere(self._connection)
            return True
        if self._log is None or self._log == _identity(companion(self.file, "-wal")):
            return False
        with closing(sqlite3.connect(":memory:", check_same_thread=False)) as memory:
            self._connection.backup(memory)  # the file itself may disappear next
            self._disconnect()
            if self._taken_away() or not self._reconnected():
                self._go_on_elsewhere(memory)
        return True

    def _reconnected(self) -> bool:
        """Whether the file could be opened again; not if it was moved away meanwhile."""
        try:
            self._connect(lambda text: None)
        except (StudyError, sqlite3.DatabaseError, OSError):
            if not self._taken_away():
                raise
            return False
        return True

    def _taken_away(self) -> bool:
        """Whether the study's path now holds another file, or none."""
        try:
            return _identity(self.file) != self._identity
        except OSError:  # unknown
            return False

    def _go_on_elsewhere(self, source: sqlite3.Connection) -> None:
        """Copy the study, which the connection can still read, and write to the copy from now on."""
        copy = rescue(source, self.file)
        self.moved = (
            f"{self.path} was moved, deleted or replaced during the run. All of the run is in {copy}: name that file "
            "to continue."
        )
        self._locks.enter_context(DriverLock(copy, shared=self._shared))
        if source is self._connection:
            if self._log is not None:
                self._leave_behind(copy)
            self._disconnect()
        self.path = self.file = copy
        self._connect(lambda text: None)
        self._identity = _identity(copy)
        self._say(self.moved)

    def _leave_behind(self, copy: Path) -> None:
        """Complete a study that was moved, and say where the run went; leave no log that another file could inherit."""
        if os.fstat(self._guard).st_nlink and self._row(1) is not None:
            self._insert(_row_of(Closed(f"{self.path} was moved, and the run continued in {copy}.", [])))
            self.fold()
        if self._log == _identity(companion(self.file, "-wal")):
            for ending in ("-wal", "-shm"):
                companion(self.file, ending).unlink(missing_ok=True)

    def _connect(self, say: Callable[[str], None]) -> None:
        self._connection = self._opened()
        self._connection.create_function("checksum", 5, checksum, deterministic=True)
        self._version = None
        try:
            self._prepare(say)
            if self._log is not None:
                self._keep_others_out()
        except BaseException:
            self._disconnect()
            raise

    def _opened(self) -> sqlite3.Connection:
        """A connection to the file, which must exist."""
        address, timeout = f"{self.file.as_uri()}?mode=rw", ATTEMPT if self._shared else PATIENCE
        return guarded(sqlite3.connect(address, timeout, isolation_level=None, check_same_thread=False, uri=True))

    def _disconnect(self) -> None:
        self._connection.close()
        if self._guard >= 0:
            os.close(self._guard)  # after that: closing a file drops all locks on it, SQLite's too
            self._guard = -1

    def _keep_others_out(self) -> None:
        """Keep other drivers out, even if the driver's lock file is deleted."""
        self._guard = os.open(self.file, os.O_RDWR)
        if not claimed(self._guard):
            raise StudyError(f"{self.path} is being driven by another process: wait for it, or use another file.")

    def _journal(self, mode: str) -> str:
        """Begin or end the write-ahead log once there are no readers or writers; SQLite itself does not wait."""
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
        if self._shared:  # maybe between machines, which a write-ahead log does not allow
            self._journal("DELETE")
            self._patiently(lambda: self._connection.execute(COPIES.replace("TABLE", "TABLE IF NOT EXISTS")))
            return
        if self._journal("WAL") == "wal":
            self._connection.execute(TOUCH)
            self._log = _identity(companion(self.file, "-wal"))
        else:  # file systems without shared memory, such as most network ones
            self._journal("DELETE")
            say(f"{self.path} is on a file system without SQLite's write-ahead log: every event takes a little longer.")


def _row_of(event: Event) -> New:
    return event.kind, event.number, time.time(), json.dumps(event.body)


def _identity(path: Path) -> tuple[int, int] | None:
    """The identity of the file at this path; None if there is none."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _unused(path: Path, *, shared: bool) -> bool:
    """Whether the file has no readers or writers, given the lock of the driver or of the copies."""
    if not shared or not path.is_file() or has_log(path):
        return not has_log(path)
    with path.open("rb") as file:
        header = file.read(WITH_LOG + 1)
    return header[WITH_LOG:] == b"\x02"  # copies keep no write-ahead log
