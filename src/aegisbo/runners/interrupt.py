"""Ctrl-C, once and twice: the first lets running evaluations finish, the second ends the run now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from aegisbo.runners.workers import StopRun


class Brake:
    """Takes over Ctrl-C while a run lasts. Elsewhere than in the main thread, where Python forbids it, does nothing."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pulled = False
        self._say = say
        self._before: Any = None

    def __enter__(self) -> Brake:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._pull)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _pull(self, number: int, frame: FrameType | None) -> None:
        if self.pulled:
            raise StopRun("Stopped at once by Ctrl-C.")
        self.pulled = True
        self._say("Stopping: what is running may finish. Ctrl-C again to stop now.")
