"""Ctrl-C during a run: the first one lets running evaluations finish, the second one ends the run now.

Others run what a copy leaves that shares its study: it ends at once, also when a scheduler says so (SIGTERM).

A signal ends the run only where this does no harm: while the driver waits, chooses a point or calls the user's code. A
result that it is just taking over is in nobody's hands for a moment, and would be in the study but not in the result.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from aegisbo.runners.protocol import Interrupted

STOPPED = "Stopped by"  # how the message of a run begins that a signal has ended


class _Here(threading.local):
    """A thread, which is the main one if signals matter."""

    open = False  # whether a signal may end the run at this moment
    due: Interrupted | None = None  # raised as soon as it may


_here = _Here()


@contextmanager
def interruptible() -> Iterator[None]:
    """A part of a run that a signal may end in the middle."""
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
    """A context with signal handlers of its own; does nothing outside the main thread, where Python allows none.

    The first signal is answered, and number `last` ends the run: now, or where the run may next be ended.
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
        """Whether the run is to end."""
        return self._times > 0

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._outside = _here.open, _here.due  # a run may be inside another one's function
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
        # Not while the first is being answered: logging swallows what is raised inside it. And once: further ones must
        # not hurt what ends the run.
        if self._times < self._last or not self._answered or self._raised:
            return
        self._raised = True
        by = signal.Signals(number).name if self._last == 1 else "Ctrl-C, without waiting for what was running"
        stop = Interrupted(f"{STOPPED} {by}.")
        if not _here.open:
            _here.due = stop
            return
        _here.open = False  # also if it is raised in the very moment in which `interruptible` is left
        raise stop


def ctrl_c(say: Callable[[str], None]) -> Signals:
    """A context in which the first Ctrl-C lets what is running finish, and the second one ends the run."""
    return Signals([signal.SIGINT], lambda: say("Stopping once running evaluations finish. Ctrl-C again stops now."), 2)


def end_at_once(hurry: Callable[[], None] = lambda: None) -> Signals:
    """A context in which Ctrl-C and SIGTERM end the run now; `hurry` lets whatever the run waits for know it."""
    return Signals([signal.SIGINT, signal.SIGTERM], hurry, 1)
