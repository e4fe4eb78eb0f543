"""Ctrl-C during a run: the first lets running evaluations finish, the second ends the run now.

A copy that shares its study ends at once, also on SIGTERM from a scheduler: other copies run what it leaves.

A signal ends the run only where this does no harm: while the driver waits, chooses a point or calls the user's code.
Elsewhere a result that is just being taken in could end up in the study but not in the returned result.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from aegisbo.runners.protocol import Interrupted

STOPPED = "Stopped by"  # begins the message of a run that a signal ended


class _Here(threading.local):
    """State of a thread; signals reach only the main one."""

    open = False  # whether a signal may end the run at this moment
    due: Interrupted | None = None  # raised as soon as it may


_here = _Here()


@contextmanager
def interruptible() -> Iterator[None]:
    """A part of a run in which a signal may end it."""
    before = _here.open
    if _here.due is not None:
        due, _here.due = _here.due, None
        raise due
    _here.open = True
    try:
        yield
    finally:
        _here.open = before


class Signals:
    """A context with its own signal handlers; it does nothing outside the main thread, where Python allows none.

    The first signal is answered, and number `last` ends the run: at once, or as soon as it may.
    """

    def __init__(self, signals: Iterable[signal.Signals], answer: Callable[[], None], last: int) -> None:
        self._signals = signals
        self._answer = answer
        self._last = last
        self._times = 0
        self._answered = self._raised = False
        self._before: dict[signal.Signals, Any] = {}  # the handlers to restore

    @property
    def came(self) -> bool:
        """Whether the run should end."""
        return self._times > 0

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._outside = _here.open, _here.due  # a run may be inside the function of another one
            _here.open, _here.due = False, None
            self._before = {each: signal.signal(each, self._handle) for each in self._signals}
        return self

    def __exit__(self, *error: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        if self._before:
            _here.open, _here.due = self._outside

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._times += 1
        if self._times == 1:
            self._answer()
            self._answered = True
        # Not while the first is being answered: logging swallows exceptions raised inside it. And only once: further
        # signals must not disturb the end of the run.
        if self._times < self._last or not self._answered or self._raised:
            return
        self._raised = True
        by = signal.Signals(number).name if self._last == 1 else "Ctrl-C, without waiting for what was running"
        stop = Interrupted(f"{STOPPED} {by}.")
        if not _here.open:
            _here.due = stop
            return
        _here.open = False  # also if it is raised just as `interruptible` is left
        raise stop


def ctrl_c(say: Callable[[str], None], hurry: Callable[[], None] = lambda: None) -> Signals:
    """A context in which the first Ctrl-C lets running evaluations finish, and the second ends the run.

    `hurry` shortens whatever else the run waits for.
    """

    def answer() -> None:
        hurry()
        say("Stopping once running evaluations finish. Ctrl-C again stops now.")

    return Signals([signal.SIGINT], answer, 2)


def end_at_once(hurry: Callable[[], None] = lambda: None) -> Signals:
    """A context in which Ctrl-C and SIGTERM end the run now; `hurry` shortens whatever the run waits for."""
    return Signals([signal.SIGINT, signal.SIGTERM], hurry, 1)
