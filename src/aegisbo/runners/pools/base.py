"""What all real pools share: a job's end is written down by the thread that learns of it, then waits to be collected.

So a result is safe the moment it exists, also while the driver is busy with a suggestion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic
from typing import Any

from aegisbo.outcome import Outcome
from aegisbo.runners.journal import Journal, Unrecorded
from aegisbo.runners.workers import Finished


class Pool(ABC):
    """Workers that run in other threads, processes or machines; subclasses start jobs and call `_ended`."""

    name: str  # for messages
    can_stop = False

    def __init__(self, capacity: int, journal: Journal | None = None) -> None:
        self.capacity = capacity
        self._journal = Unrecorded() if journal is None else journal
        self._submitted: dict[int, float] = {}
        self._lock = Lock()  # an end is written down and handed on in one go: both have the same order
        self._ends: SimpleQueue[Finished | BaseException] = SimpleQueue()

    @abstractmethod
    def _start(self, number: int, x: Any) -> None:
        """Start evaluating x; `_ended` must be called once, from any thread, when it is over."""

    def submit(self, number: int, x: Any) -> None:
        with self._lock:
            self._submitted[number] = self.now()
        self._start(number, x)

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """All jobs that have ended since the last call; waits for the first one up to `timeout` seconds."""
        with self._lock:
            nothing = not self._submitted and self._ends.empty()
        return [] if nothing else list(self._drain(timeout))

    @abstractmethod
    def close(self) -> None:
        """Abandon whatever is running and let the workers go."""

    def stop(self, number: int) -> None:  # noqa: B027 - most pools cannot, and the loop asks `can_stop` first
        """Nothing can be done: the job keeps its worker until it ends by itself."""

    def now(self) -> float:
        return monotonic()

    def _ended(self, number: int, outcome: Outcome) -> None:
        now = self.now()
        with self._lock:
            submitted = self._submitted.pop(number, None)
            if submitted is None:
                return  # the pool was closed meanwhile: nobody waits for it any more
            job = Finished(number, outcome, submitted, now)
            try:
                self._ends.put(replace(job, event=self._journal.ended(job)))
            except BaseException as error:  # a full disk, say: the driver must hear of it, not this thread
                self._ends.put(error)

    def _forget(self) -> None:
        """Take no notice of what ends from now on."""
        with self._lock:
            self._submitted.clear()

    def _drain(self, timeout: float | None) -> Iterator[Finished]:
        block = timeout is None or timeout > 0.0
        while True:
            try:
                end = self._ends.get(block, timeout if block else None)
            except Empty:
                return
            if isinstance(end, BaseException):
                raise end
            yield end
            block = False
