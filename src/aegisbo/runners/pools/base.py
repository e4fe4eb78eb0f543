"""What all real pools share: the thread that learns of a job's end records it, then the loop may collect it.

So a result is safe the moment it exists, even while the driver is busy with a suggestion.
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
from aegisbo.runners.protocol import Finished, Journal, Unrecorded


class Pool(ABC):
    """Workers in other threads, processes or machines; subclasses start jobs and call `_ended`."""

    name: str  # for messages
    can_stop = False
    prints_here = False  # whether what the function prints reaches this process's terminal by itself

    def __init__(self, capacity: int, journal: Journal | None = None) -> None:
        self.capacity = capacity
        self._journal = Unrecorded() if journal is None else journal
        self._submitted: dict[int, tuple[int, float]] = {}  # worker and when, by number; jobs that have not ended
        self._lock = Lock()  # an end is recorded and queued in one go: both have the same order
        self._ends: SimpleQueue[Finished | BaseException] = SimpleQueue()

    @abstractmethod
    def _start(self, number: int, x: Any, worker: int) -> None:
        """Let this worker evaluate x; `_ended` must be called once, from any thread, when it is over."""

    @property
    def starting(self) -> int:
        """How many jobs have been submitted whose function has not been called yet; most pools cannot know."""
        return 0

    @property
    def unfinished(self) -> int:
        """How many jobs have been submitted and have not ended; any thread may ask."""
        return len(self._submitted)

    def submit(self, number: int, x: Any) -> int:
        with self._lock:
            worker = min(set(range(self.capacity)) - {worker for worker, _ in self._submitted.values()})
            self._submitted[number] = worker, self.now()
        self._start(number, x, worker)
        return worker

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """All jobs that have ended since the last call; waits for the first one up to `timeout` seconds."""
        with self._lock:
            nothing = not self._submitted and self._ends.empty()
        return [] if nothing else list(self._drain(timeout))

    @abstractmethod
    def close(self) -> None:
        """Abandon all running jobs and release the workers."""

    def stop(self, number: int) -> None:  # noqa: B027 - most pools cannot, and the loop asks `can_stop` first
        """Do nothing: the job keeps its worker until it ends by itself."""

    def now(self) -> float:
        return monotonic()

    def _ended(self, number: int, outcome: Outcome) -> None:
        now = self.now()
        with self._lock:
            if number not in self._submitted:
                return  # the pool was closed meanwhile
            worker, submitted = self._submitted.pop(number)
            outcome = replace(outcome, worker=worker)
            job = Finished(number, outcome, submitted, now)
            try:
                self._ends.put(replace(job, event=self._journal.ended(number, outcome, job.seconds)))
            except BaseException as error:  # for example, the disk is full: `collect` raises it in the driver
                self._ends.put(error)

    def _forget(self) -> None:
        """Ignore all jobs that end from now on."""
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
