"""Ctrl-C during a run: the first one lets running evaluations finish, the second one ends the run now.

Others run what a copy leaves that shares its study: it ends at once, also when a scheduler says so (SIGTERM).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from aegisbo.runners.protocol import StopRun

STOPPED = "Stopped by"  # how the message of a run begins that a signal has ended at once


class CtrlC:
    """A context that handles Ctrl-C; does nothing outside the main thread, where Python allows no signal handler."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._times = 0
        self._said = self._raised = False
        self._say = say
        self._before: Any = None  # the handler to restore

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @property
    def pressed(self) -> bool:
        """Whether the run is to end."""
        return self._times > 0

    def _press(self, number: int, frame: FrameType | None) -> None:
        self._times += 1
        if self._times == 1:
            self._say("Stopping: what is running may finish. Ctrl-C again to stop now.")
            self._said = True
        # Not while the above is being said: logging swallows what is raised inside it.
        if self._times > 1 and self._said and not self._raised:
            self._raised = True  # once: further ones must not hurt what ends the run
            raise StopRun("Stopped at once by Ctrl-C.")


class EndAtOnce:
    """A context in which Ctrl-C and SIGTERM end the run now; does nothing outside the main thread."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}  # the handlers to restore
        self._raised = False

    def ignore(self) -> None:
        """Let no signal disturb what is being written down at the end."""
        self._raised = True

    def __enter__(self) -> EndAtOnce:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._end) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self._raised:
            self._raised = True  # once: further ones must not hurt what ends the run
            raise StopRun(f"{STOPPED} {signal.Signals(number).name}.")
