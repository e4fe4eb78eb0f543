"""One driver at a time: a lock of the operating system, which is free again the moment its holder dies."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType

from aegisbo.errors import StudyError, require_posix

# The system's `struct flock`, and where in it the kind of a lock stands; zeros elsewhere mean the whole file.
FLOCK, KIND = ("qqihh", 3) if sys.platform == "darwin" else ("hhqqi4x", 0)

_held: set[Path] = set()  # record locks do not exclude their own process
_one_at_a_time = Lock()  # threads that look at it


class DriverLock:
    """Held while a driver writes to the study at `path`; the file beside it says by whom."""

    def __init__(self, path: Path) -> None:
        self._study = path.resolve()
        self._path = _beside(self._study)
        self._descriptor = -1

    def __enter__(self) -> DriverLock:
        require_posix("Study files", "an Optimizer with a loop of your own")
        with _one_at_a_time:
            if self._study in _held:
                raise StudyError(
                    f"{self._study} is already being driven by this process: wait for it, or use another file."
                )
            while True:
                self._acquire()
                if self._still_there():
                    break
                os.close(self._descriptor)  # its last holder deleted it between our opening and our locking it
            _held.add(self._study)
        me = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        with suppress(OSError):  # a full disk, say: the lock holds without a name, too
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(me).encode(), 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        _held.discard(self._study)

    def _acquire(self) -> None:
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StudyError(
                f"Study file {self._study}: no file can be made in its folder ({error.strerror}): check that it exists "
                "and can be written to."
            ) from error
        import fcntl  # here, because Windows has none and must still be able to import this

        try:
            # A record lock belongs to the process: a child that outlives it does not keep the study locked.
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._descriptor, 1000, 0).decode(errors="replace")
            os.close(self._descriptor)
            raise StudyError(
                f"{self._study} is being driven by another process{_named(holder)}: wait for it, or use another file."
            ) from None

    def _still_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False


def is_driven(path: Path) -> bool:
    """Whether somebody drives the study at this moment; asked without taking the lock or making a file."""
    with _one_at_a_time:
        # If the lock is ours, it would be gone once its file is opened and closed here.
        return path.resolve() in _held or _is_driven_elsewhere(path.resolve())


def _is_driven_elsewhere(study: Path) -> bool:
    try:
        descriptor = os.open(_beside(study), os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:  # the file of another user: there is a driver, or was
        return True
    try:
        return _is_locked(descriptor)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Ask the system what stands in the way of a lock; to try would be to refuse a driver that begins just now."""
    import fcntl

    question = [0] * 5
    question[KIND] = fcntl.F_WRLCK
    answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(FLOCK, *question))
    return bool(struct.unpack(FLOCK, answer)[KIND] != fcntl.F_UNLCK)


def _beside(study: Path) -> Path:
    return study.with_name(study.name + ".driver")  # SQLite may use ".lock"


def _named(holder: str) -> str:
    try:
        who = json.loads(holder)
        return f" (process {who['pid']} on {who['host']}, since {who['since']})"
    except (ValueError, KeyError, TypeError):
        return ""
