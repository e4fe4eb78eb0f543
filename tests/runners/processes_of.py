"""Which processes there are, read from the kernel's own list."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether the process exists; one that has ended and only waits to be noticed does not.

    Its first thread may end before the others, which still hold its pipes open.
    """
    state = _status(pid)
    return state is not None and (state[0] != "Z" or _threads(pid) > 1)


def children_of(pid: int) -> set[int]:
    """Direct children, zombies included: they are somebody's to clear away."""
    return {other for other in _all() if (status := _status(other)) is not None and status[1] == pid}


def parent_of(pid: int) -> int:
    status = _status(pid)
    if status is None:
        raise ProcessLookupError(pid)
    return status[1]


def wait_until_dead(pids: Iterable[int], seconds: float = 5.0) -> set[int]:
    """Those that are still alive after so many seconds."""
    deadline = time.monotonic() + seconds
    left = {pid for pid in pids if alive(pid)}
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = {pid for pid in left if alive(pid)}
    return left


def reported(folder: Path, count: int = 1, seconds: float = 120.0) -> set[int]:
    """The processes that have reported for work with a file "<anything>.<pid>.pid", once there are so many."""
    deadline = time.monotonic() + seconds
    while len(pids := {int(file.name.split(".")[-2]) for file in folder.glob("*.pid")}) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f"only {sorted(pids)} reported in {folder}")
        time.sleep(0.01)
    return pids


def _all() -> Iterable[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _status(pid: int) -> tuple[str, int] | None:
    """State and parent, or None if there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], int(fields[1])
