"""Locks a study for one driver, or for copies that share it; the system frees the lock when its holder dies.

A driver locks the whole file beside the study for itself. Copies share its first byte, so that driver and copies keep
each other out, and take turns with its second byte.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from threading import Lock
from types import TracebackType
from typing import Any

from aegisbo.address import Address, Place
from aegisbo.errors import StudyError, require_posix
from aegisbo.study import server
from aegisbo.study.file import explained

if sys.platform != "win32":  # it has no fcntl, but must be able to import this
    import fcntl

# The system's `struct flock`, and the positions of the kind of a lock, its first byte, its length and its holder;
# zeros mean the whole file.
FLOCK, KIND, FIRST, LENGTH, PID = ("qqihh", 3, 0, 1, 2) if sys.platform == "darwin" else ("hhqqi4x", 0, 2, 3, 4)

MEMBER, TURN = 0, 1  # which byte is locked for what
GUARD = 0x4000_0200  # the byte of a study that its driver locks: the first after those that SQLite locks
HESITATION = 2.0  # seconds until a copy accepts a refusal: the last copy that leaves holds the file alone for a moment
PATIENCE = 60.0  # seconds to wait for a turn
PAUSE = 0.01, 0.25  # seconds between two attempts, the first and the longest
RESERVE = 2**15  # bytes that the lock file takes up, to be freed when the disk is full
SQLITE = 2**30  # first byte that SQLite locks in its files

_held: set[Path] = set()  # record locks do not exclude their own process
_one_at_a_time = Lock()  # guards it


class DriverLock:
    """Held by a driver, or by a copy that shares the study at `path`; the lock file beside it names the holder."""

    def __init__(self, path: Path, *, shared: bool = False, say: Callable[[str], None] = lambda text: None) -> None:
        self._study = _place(path)
        self._shared = shared
        self._say = say  # called with sentences for the user
        self._path = _beside(self._study)
        self._descriptor = -1
        self._stuck: int | None = None  # the process that has kept its turn longer than our patience

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
        self._sign()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._still_there() and (not self._shared or _locked(self._descriptor, MEMBER, exclusive=True)):
            self._path.unlink(missing_ok=True)  # else it belongs to another holder, or other copies need it
        os.close(self._descriptor)
        _held.discard(self._study)

    def keep(self) -> None:
        """Recreate the lock file if it was deleted; until then, a lock on the study itself keeps others out."""
        if self._still_there():
            return
        deleted = self._descriptor
        with _one_at_a_time:
            try:
                self._acquire()
            except StudyError:  # for example, another process is being refused just now: try again next time
                self._descriptor = deleted
                return
            os.close(deleted)
        self._sign()

    def make_room(self) -> None:
        """Free the disk space of the lock file, so that a last event can be written."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)

    @property
    def alone(self) -> bool:
        """Whether no other copy holds the lock; of two that begin at the same moment, neither may be alone."""
        return _holder_of(self._descriptor) is None

    @contextmanager
    def turn(self, patience: float = PATIENCE) -> Iterator[None]:
        """Wait for this copy's turn, up to a limit: a process that is suspended in its turn must not stop all others.

        The others wait for it only once, until its turn is over.
        """
        known = self._stuck is not None and self._stuck == _holder_of(self._descriptor, TURN)
        mine = self._wait(TURN, 0.0 if known else patience)
        holder = None if mine else _holder_of(self._descriptor, TURN)
        if holder is not None and holder != self._stuck:
            self._say(
                f"{self._study}: {_process(holder)} has been choosing for {patience:g} seconds, or is suspended. "
                "Until it has chosen, this copy does not wait for it."
            )
        self._stuck = holder
        try:
            yield
        finally:
            if mine:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, TURN)

    def _sign(self) -> None:
        """Write the holder into the lock file."""
        me = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        me |= {"copies": True} if self._shared else {}
        with suppress(OSError):  # such as a full disk: the lock holds without a name
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(me).encode().ljust(RESERVE), 0)

    def _acquire(self) -> None:
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StudyError(
                f"Study file {self._study}: no file can be made in its folder ({error.strerror}): check that it exists "
                "and can be written to."
            ) from error
        mine = self._wait(MEMBER, HESITATION) if self._shared else _locked(self._descriptor, exclusive=True)
        said = os.pread(self._descriptor, 1000, 0).strip(b"\0")  # a power cut may leave these
        holder = _holder(said)
        if mine and (not said or holder):
            return
        os.close(self._descriptor)
        if not mine:
            raise StudyError(f"{self._study} is being driven by {_named(holder)}: wait for it, or use another file.")
        raise StudyError(
            f"{self._path} is in the way: the lock of the study belongs there, and this file is something else. Move "
            "or rename it, or use another name for the study."
        )

    def _wait(self, byte: int, patience: float) -> bool:
        """Whether a byte could be locked in time: the turn exclusively, the other byte shared."""
        deadline, (pause, longest) = time.monotonic() + patience, PAUSE
        while not _locked(self._descriptor, byte, exclusive=byte == TURN):
            if time.monotonic() >= deadline:
                return False
            time.sleep(SystemRandom().uniform(0.5, 1.0) * pause)  # or copies that began together would stay in step
            pause = min(1.5 * pause, longest)
        return True

    def _still_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False


def claimed(descriptor: int) -> bool:
    """Whether this process could lock a byte of the study itself: unlike a lock file, it cannot be deleted unnoticed.

    SQLite does not use this byte, but drops the lock when it closes the file and, without a write-ahead log, after each
    transaction.
    """
    return _locked(descriptor, GUARD, exclusive=True)


def _locked(descriptor: int, byte: int | None = None, *, exclusive: bool) -> bool:
    """Whether this process could lock a byte of a file, or all of it."""
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    place = (0, 0) if byte is None else (1, byte)  # no length means the whole file
    try:
        # A record lock belongs to the process: a child that outlives it does not hold it.
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB, *place)
    except OSError:
        return False
    return True


def is_driven(place: Place) -> bool:
    """Whether the study has a driver at this moment; takes no lock and makes no file."""
    if isinstance(place, Address):
        return server.is_driven(place)
    with _one_at_a_time:
        study = place.resolve()
        if study in _held:  # opening and closing its file here would drop the lock
            return True
        try:
            descriptor = os.open(_beside(study), os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:  # another user's file: there is a driver, or was
            return True
        try:
            return _holder_of(descriptor) is not None
        finally:
            os.close(descriptor)


def _holder_of(descriptor: int, byte: int | None = None) -> int | None:
    """The process that has locked a byte of a file, or any byte; None if there is none, 0 if the system does not say.

    Trying to lock it could refuse a driver that begins just now.
    """
    question = [0] * 5
    question[KIND] = fcntl.F_WRLCK
    if byte is not None:
        question[FIRST], question[LENGTH] = byte, 1
    answer = struct.unpack(FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(FLOCK, *question)))
    return None if answer[KIND] == fcntl.F_UNLCK else max(answer[PID], 0)


def writer_of(study: Path) -> tuple[str, int]:
    """Who is writing to a study, in words and as a process of this machine; 0 if unknown.

    Read from the system's list of locks, which only Linux has: opening and closing the file would drop our own locks.
    """
    with suppress(OSError, ValueError, IndexError):
        file = str(study.stat().st_ino)
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            _, kind, _, access, pid, place, first, *_ = line.replace("-> ", "").split()
            writes = (kind, access) == ("POSIX", "WRITE") and int(first) >= SQLITE and " -> " not in line
            if writes and place.split(":")[2] == file and int(pid) > 0:
                return _process(int(pid)), int(pid)
    return _process(0), 0


def _process(pid: int) -> str:
    return f"process {pid} on this machine" if pid else "another process"


def _place(path: Path) -> Path:
    """Where a study is, or will be: with links resolved, unless they lead nowhere."""
    with explained(path):
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # also detects a loop of links, a name that is too long and a folder without access
        return path.resolve()


def _beside(study: Path) -> Path:
    return study.with_name(study.name + ".driver")  # SQLite may use ".lock"


def _holder(said: bytes) -> dict[str, Any]:
    """Who holds or held a lock; empty if the lock file does not say."""
    try:
        who = json.loads(said)
    except ValueError:
        return {}
    return who if isinstance(who, dict) and "pid" in who else {}


def _named(who: Mapping[str, Any]) -> str:
    what = "copies of `aegisbo work`" if "copies" in who else "another process"
    try:
        return f"{what} (process {who['pid']} on {who['host']}, since {who['since']})"
    except KeyError:
        return what
