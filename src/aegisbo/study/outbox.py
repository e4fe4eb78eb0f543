"""Results that a server could not be told yet: on this machine's disk, where they survive a kill of their process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.events import Ended, Event, Late, read_event
from aegisbo.printable import so_many

if sys.platform != "win32":  # it has no fcntl, but must be able to import this
    import fcntl

ENDING = ".results"


class Outbox:
    """The waiting results of one process for one study, and those that dead processes of this machine have left."""

    def __init__(self, key: str) -> None:
        self._key = key  # of the study
        self._file = -1
        self._path: Path | None = None
        self._held: list[Event] = []
        self._adopted: list[tuple[Path, int]] = []  # of dead processes, locked

    def __len__(self) -> int:
        return len(self._held)

    def __str__(self) -> str:
        return f"{so_many(len(self._held), 'result')} in {self._path}" if self._held else "no result"

    def hold(self, event: Event) -> None:
        """Keep a result on disk; other events are told again by those who need them."""
        if not isinstance(event, Ended | Late) or event in self._held:
            return
        try:
            if self._path is None:
                self._path = _folder() / f"{self._key}.{token_hex(4)}{ENDING}"
                self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
                fcntl.flock(self._file, fcntl.LOCK_EX)
            os.write(self._file, (json.dumps([event.kind, event.number, event.body]) + "\n").encode())
            os.fsync(self._file)
        except OSError as error:
            raise StudyError(
                f"The server cannot be reached, and results cannot wait in {_place()} either ({error.strerror}): make "
                "room there, or set XDG_STATE_HOME to another folder."
            ) from error
        self._held.append(event)

    def release(self, event: Event) -> None:
        """A result has been told; once all have been, the file goes."""
        with suppress(ValueError):
            self._held.remove(event)
        if not self._held and self._path is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._path = None

    def orphans(self) -> Iterator[Event]:
        """The results that dead processes have left; `settle` removes them."""
        for path in sorted(_place().glob(f"{self._key}.*{ENDING}")) if _place().is_dir() else ():
            if path == self._path or path in (each for each, _ in self._adopted):
                continue
            file = _left(path)
            if file is not None:
                self._adopted.append((path, file))
                yield from map(_read, _lines(path))

    def settle(self) -> None:
        """The results of dead processes have been told."""
        for path, _ in self._adopted:
            path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Leave to others what dead processes have left and what was not told."""
        for _, file in self._adopted:
            os.close(file)
        self._adopted.clear()


def _left(path: Path) -> int | None:
    """The open and locked file of a dead process; None if its process is alive, or another one took it just now."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists():
            return file
    except BlockingIOError:
        pass
    os.close(file)
    return None


def _lines(path: Path) -> Sequence[Any]:
    """The whole lines of a file; its process may have died while it wrote the last one."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]


def _read(line: Any) -> Event:
    kind, number, body = line
    return read_event(0, kind, number, 0.0, body)


def _place() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "aegisbo"


def _folder() -> Path:
    place = _place()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place
