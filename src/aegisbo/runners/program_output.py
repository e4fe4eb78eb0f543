"""What a program prints, passed on while it runs: whoever is stopped has left its words up to then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from threading import Event, Thread

BEAT = 0.5  # seconds from one look to the next
TAIL = 4096  # bytes of a program's output that are looked at


def tail(file: Path) -> str:
    """The end of a file."""
    return _news(file, 0)[0]


def _news(file: Path, begin: int) -> tuple[str, int]:
    """The end of what came into a file beyond its first bytes, and how many these are now."""
    with file.open("rb") as stream:
        stream.seek(max(file.stat().st_size - TAIL, begin))
        return stream.read().decode(errors="replace"), stream.tell()


@contextmanager
def passed_on(output: Path, errors: Path, heard: Callable[[str], None] = lambda text: None) -> Iterator[None]:
    """Write the ends of what comes into these files to standard error, which is the output of the trial.

    What comes into the first one is `heard`, too.
    """
    seen = [0, 0]

    def pass_on() -> None:
        with suppress(OSError, ValueError):  # the program has deleted a file, or somebody has closed the stream
            said, seen[0] = _news(output, seen[0])
            complained, seen[1] = _news(errors, seen[1])
            # So much of each that the other is not lost: a trial keeps the end of both together.
            complained = complained[-max(TAIL - len(said), TAIL // 2) :]
            if sys.stderr is not None and (said or complained):
                sys.stderr.write(said[-(TAIL - len(complained)) :] + complained)
                sys.stderr.flush()
            heard(said)

    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            pass_on()

    # In a copy of the context, by which threads that evaluate side by side tell their outputs apart.
    thread = Thread(target=copy_context().run, args=(beat,), name="aegisbo-output", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        pass_on()
