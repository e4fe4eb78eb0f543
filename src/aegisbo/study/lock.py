"""Who drives a study: one driver, or copies that share it; a lock of the system, free the moment its holder dies.

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

from aegisbo.errors import StudyError, require_posix
from aegisbo.study.file import explained

if sys.platform != "win32":  # which has none, and must still be able to import this
    import fcntl

# The system's `struct flock`, and where in it the kind of a lock stands, its first byte, its length and its holder;
# zeros mean the whole file.
FLOCK, KIND, FIRST, LENGTH, PID = ("qqihh", 3, 0, 1, 2) if sys.platform == "darwin" else ("hhqqi4x", 0, 2, 3, 4)

MEMBER, TURN = 0, 1  # which byte is locked for what
GUARD = 0x4000_0200  # the byte of a study that its driver locks: the first after those that SQLite locks
HESITATION = 2.0  # seconds after which a copy takes no for an answer: the last one that leaves has the file to itself
PATIENCE = 60.0  # seconds to wait for a turn
PAUSE = 0.01, 0.25  # seconds between two attempts, the first and the longest
RESERVE = 2**15  # bytes that the file of a lock takes up, for when the disk is full
SQLITE = 2**30  # from which byte on SQLite locks its files

_held: set[Path] = set()  # record locks do not exclude their own process
_one_at_a_time = Lock()  # threads that look at it


class DriverLock:
    """Held while a driver writes to the study at `path`, or a copy that shares it; the file beside it says by whom."""

    def __init__(self, path: Path, *, shared: bool = False, say: Callable[[str], None] = lambda text: None) -> None:
        self._study = _place(path)
        self._shared = shared
        self._say = say  # is told, in a sentence, what the user should know
        self._path = _beside(self._study)
        self._descriptor = -1
        self._stuck: int | None = None  # the process that kept its turn longer than our patience, and has it still

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
            self._path.unlink(missing_ok=True)  # else it is another's, or other copies need it
        os.close(self._descriptor)
        _held.discard(self._study)

    def keep(self) -> None:
        """Make the file of the lock again if somebody has deleted it; until then, the study itself keeps others out."""
        if self._still_there():
            return
        deleted = self._descriptor
        with _one_at_a_time:
            try:
                self._acquire()
            except StudyError:  # somebody else is being refused at this moment, say: we try again the next time
                self._descriptor = deleted
                return
            os.close(deleted)
        self._sign()

    def make_room(self) -> None:
        """Let go of the room on the disk that the file of the lock takes up, so that a last word can be written."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)

    @property
    def alone(self) -> bool:
        """Whether nobody else holds the lock; of two copies that begin at the same moment, neither may be."""
        return _holder_of(self._descriptor) is None

    @contextmanager
    def turn(self, patience: float = PATIENCE) -> Iterator[None]:
        """A copy's turn, or the end of its patience: whoever is suspended in its turn must not stop all others.

        It costs the others their patience once, until its turn is over.
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
        """Say in the file who holds the lock."""
        me = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        me |= {"copies": True} if self._shared else {}
        with suppress(OSError):  # a full disk, say: the lock holds without a name, too
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
        said = os.pread(self._descriptor, 1000, 0).strip(b"\0")  # which a power cut may leave
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
        """Whether a byte could be locked before patience was over: the turn for us alone, else shared."""
        deadline, (pause, longest) = time.monotonic() + patience, PAUSE
        while not _locked(self._descriptor, byte, exclusive=byte == TURN):
            if time.monotonic() >= deadline:
                return False
            time.sleep(SystemRandom().uniform(0.5, 1.0) * pause)  # or copies which began together would stay in step
            pause = min(1.5 * pause, longest)
        return True

    def _still_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False


def claimed(descriptor: int) -> bool:
    """Whether this process could lock a byte of a study itself that SQLite does not use: who deletes it has no study.

    SQLite takes such a lock away when it closes the file and, without a write-ahead log, whenever a transaction ends.
    """
    return _locked(descriptor, GUARD, exclusive=True)


def _locked(descriptor: int, byte: int | None = None, *, exclusive: bool) -> bool:
    """Whether this process could lock a byte of a file, or all of it."""
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    place = (0, 0) if byte is None else (1, byte)  # no length means the whole file
    try:
        # A record lock belongs to the process: a child that outlives it does not keep the study locked.
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB, *place)
    except OSError:
        return False
    return True


def is_driven(path: Path) -> bool:
    """Whether somebody drives the study at this moment; asked without taking the lock or making a file."""
    with _one_at_a_time:
        study = path.resolve()
        if study in _held:  # the lock would be gone once its file is opened and closed here
            return True
        try:
            descriptor = os.open(_beside(study), os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:  # the file of another user: there is a driver, or was
            return True
        try:
            return _holder_of(descriptor) is not None
        finally:
            os.close(descriptor)


def _holder_of(descriptor: int, byte: int | None = None) -> int | None:
    """Which process has locked a byte of a file, or any; None if nobody has, 0 if the system does not say who.

    To try would be to refuse a driver that begins just now.
    """
    question = [0] * 5
    question[KIND] = fcntl.F_WRLCK
    if byte is not None:
        question[FIRST], question[LENGTH] = byte, 1
    answer = struct.unpack(FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(FLOCK, *question)))
    return None if answer[KIND] == fcntl.F_UNLCK else max(answer[PID], 0)


def writer_of(study: Path) -> tuple[str, int]:
    """Who writes to a study at this moment, in words and as a process of this machine; 0 if nobody knows.

    Read from the system's own list, which only Linux has: whoever opens and closes the file loses all locks on it.
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
    """Where a study is, or will be: behind all links, unless these lead nowhere."""
    with explained(path):
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # which also notices a loop of links, a name that is too long and a folder of somebody else's
        return path.resolve()


def _beside(study: Path) -> Path:
    return study.with_name(study.name + ".driver")  # SQLite may use ".lock"


def _holder(said: bytes) -> dict[str, Any]:
    """Who holds a lock, or has held it; nothing if the file of the lock does not say so."""
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
