"""A folder for each run of a program: deleted when it ends, or by a later run if its process was killed.

A trial that may go on keeps its own instead.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aegisbo.runners.slots import folder_here

PREFIX = "aegisbo-"
MARK = f".alive.{platform.node()}"  # locked while its folder is used; other machines cannot see that


@contextmanager
def own_folder() -> Iterator[str]:
    """The folder of the trial; else an empty one, apart from hidden files, that exists during this context."""
    import fcntl  # here, because Windows lacks it

    if (kept := folder_here()) is not None:
        yield str(kept)
        return
    tidy_up()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, Path(folder, MARK).open("wb", buffering=0) as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        mark.write(b"locked")  # an empty one could be taken for that of a dead owner
        yield folder


def tidy_up() -> None:
    """Delete the folders of processes that were killed, here and in any other run of this user on this machine."""
    for mark in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{MARK}"):
        with suppress(OSError):  # it is another user's, or was deleted meanwhile
            if _is_left_behind(mark):
                shutil.rmtree(mark.parent, ignore_errors=True)


def _is_left_behind(mark: Path) -> bool:
    import fcntl

    with mark.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return os.fstat(file.fileno()).st_size > 0
