"""What all real pools share: the thread that notices the end of a job records it, then the loop may collect it.

So a result is safe as soon as it exists, even while the driver is busy with a suggestion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from logging import getLogger
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic, time
from typing import Any

from aegisbo.errors import EvaluationFailed
from aegisbo.outcome import Outcome, Report
from aegisbo.runners.evaluation import error_text
from aegisbo.runners.interrupt import interruptible
from aegisbo.runners.packing import pack_point
from aegisbo.runners.protocol import Finished, Heard, News, StopRun, WorkersGone, first_of
from aegisbo.study import Study


def lost_by(error: BaseException, *, shared: bool = False) -> Outcome:
    """The outcome of a job whose pool raised an exception. Exceptions of the function are outcomes already."""
    words = error_text(error)
    return Outcome(
        "lost", reason=words.split("\n")[0], traceback=words, shared=shared, unusable=isinstance(error, ImportError)
    )


@contextmanager
def taking(refusal: str, remedy: str) -> Iterator[None]:
    """Hand over a job, which may have to wait for a worker; if none takes it, say so, and how to continue."""
    try:
        with interruptible():
            yield
    except StopRun:  # Ctrl-C
        raise
    except Exception as error:
        reason = error_text(error).split("\n")[0].rstrip(".")
        raise WorkersGone(
            f"{refusal} ({reason}). Nothing that has ended is lost{remedy} make the same call again."
        ) from error


@dataclass
class _Job:
    """A job that has not ended."""

    worker: int
    submitted: float
    called: float | None  # when the function was called; None if it has not been yet
    given_up: bool = False  # its end no longer matters


class Pool(ABC):
    """Workers in other threads, processes or machines; subclasses start jobs and call `_ended`."""

    name: str  # for messages
    can_stop = False
    hears = False  # whether reports come while a job runs; else they come with its end, and none can be answered
    raise_errors = False  # whether `collect` raises the first exception of the function, which is then not recorded
    reports_calls = False  # whether `_called` is called; else a job counts as called when it is submitted
    when_late = "counts as timed out, but keeps its worker until it returns"  # where it cannot be stopped
    packs = True  # whether points are sent to other processes; threads take them as they are
    prints_here = False  # whether the function's output reaches this process's terminal by itself

    def __init__(self, capacity: int) -> None:
        self.capacity = int(capacity)  # NumPy's integers are not accepted everywhere
        self.journal: Study | None = None  # the end of every job is recorded there before `collect` returns it
        self._submitted: dict[int, _Job] = {}  # by number
        self._paces: Mapping[int, float] = {}  # by worker
        self._lock = Lock()  # an end is recorded and queued in one go: both have the same order
        self._news: deque[News | BaseException] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()  # rings for each of them

    @abstractmethod
    def _start(self, number: int, point: Any, worker: int) -> None:
        """Let this worker evaluate a point, packed or not, then call `_ended` once, from any thread."""

    @property
    def starting(self) -> int:
        """How many jobs have been submitted whose function has not been called yet; most pools cannot know."""
        # Without the lock: the thread of the progress line asks, and the holder of the lock may wait for that line.
        return sum(job.called is None for job in tuple(self._submitted.values()))

    @property
    def next_worker(self) -> int:
        free = set(range(self.capacity)) - {job.worker for job in tuple(self._submitted.values())}
        return first_of(free, self._paces)

    def prefer(self, paces: Mapping[int, float]) -> None:
        self._paces = paces

    def called(self, number: int) -> float | None:
        with self._lock:
            job = self._submitted.get(number)
        return None if job is None else job.called

    @property
    def unfinished(self) -> int:
        """How many jobs have been submitted and have not ended; any thread may ask."""
        return len(self._submitted)

    def submit(self, number: int, x: Any) -> int:
        with self._lock:
            worker = self.next_worker
            now = self.now()
            self._submitted[number] = _Job(worker, now, None if self.reports_calls else now)
        point = pack_point(x) if self.packs else x
        if isinstance(point, Outcome):
            self._ended(number, point)
            return worker
        try:
            self._start(number, point, worker)
        except WorkersGone as gone:
            getLogger("aegisbo").warning(gone)  # the run ends with a result, whose message may go unread
            raise
        return worker

    def resize(self, capacity: int) -> None:
        """Run at most this many jobs at a time from now on; surplus jobs that are running may finish."""
        self.capacity = capacity

    def collect(self, timeout: float | None = None) -> list[News]:
        with self._lock:
            ready = bool(self._news) or not self._submitted
        if not ready and timeout != 0.0:
            with suppress(Empty), interruptible():  # a signal takes a ring at most, never an end
                self._bell.get(timeout=timeout)
        return self._taken()

    def give_up(self, number: int) -> bool:
        with self._lock:
            job = self._submitted.get(number)
            if job is not None:
                job.given_up = True
            return job is not None

    @abstractmethod
    def close(self) -> None:
        """Abandon all running jobs and release the workers."""

    def stop(self, number: int, reason: str = "Stopped.") -> None:  # noqa: B027 - most pools cannot, and the loop asks `can_stop` first
        """Do nothing: the job keeps its worker until it ends by itself."""

    def tell(self, number: int, reason: str = "") -> None:  # noqa: B027 - most pools have no line to a running job
        """Do nothing: the job cannot hear it."""

    def now(self) -> float:
        return monotonic()

    def _called(self, number: int) -> None:
        """Note that the function of a job is being called, for pools that `reports_calls`."""
        with self._lock:
            if number in self._submitted:  # the pool may have been closed meanwhile
                self._submitted[number].called = self.now()

    def _heard(self, number: int, report: Report) -> None:
        """Record a report of a running job, for pools that can hear; any thread may call this."""
        with self._lock:
            if number not in self._submitted or self._submitted[number].given_up:
                return
            try:
                event = None if self.journal is None else self.journal.reported(number, report)
                self._queue(Heard(number, report, event))
            except BaseException as error:  # as at the end of a job
                self._queue(error)

    def _ended(self, number: int, outcome: Outcome) -> None:
        for report in outcome.reports:
            self._heard(number, report)
        now = self.now()
        with self._lock:
            if number not in self._submitted:
                return  # the pool was closed meanwhile
            job = self._submitted.pop(number)
            if job.given_up:
                self._queue(Finished(number, outcome, job.submitted, now))
                return
            if self.raise_errors and (outcome.state == "failed" or outcome.unusable):
                self._queue(EvaluationFailed(number, outcome.reason, outcome.traceback))
                return
            outcome = replace(self._timed(outcome, job, now), worker=job.worker, reports=())
            end = Finished(number, outcome, job.submitted, now)
            try:
                event = None if self.journal is None else self.journal.ended(number, outcome, end.seconds)
                self._queue(replace(end, event=event))
            except BaseException as error:  # for example, the disk is full: `collect` raises it in the driver
                self._queue(error)

    def _timed(self, outcome: Outcome, job: _Job, now: float) -> Outcome:
        """The outcome with the seconds of the function, also if its worker died or was stopped."""
        if outcome.seconds is not None:
            return outcome
        seconds = 0.0 if job.called is None else now - job.called
        known = self.reports_calls and job.called is not None
        return replace(outcome, seconds=seconds, began=time() - seconds if known else None)

    def _forget(self) -> None:
        """Ignore all jobs that end from now on."""
        with self._lock:
            self._submitted.clear()

    def _queue(self, news: News | BaseException) -> None:
        self._news.append(news)
        self._bell.put(None)

    def _taken(self) -> list[News]:
        """The news before the first error, which is raised once there are none before it."""
        taken: list[News] = []
        with self._lock:
            while not self._bell.empty():
                self._bell.get()
            while self._news:
                news = self._news.popleft()
                if not isinstance(news, BaseException):
                    taken.append(news)
                elif taken:
                    self._news.appendleft(news)
                    break
                else:
                    raise news
        return taken
