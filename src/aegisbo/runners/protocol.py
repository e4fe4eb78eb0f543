"""What the loop needs from workers, and what ends a run.

Real pools and the virtual clock are used through the same few calls, so one loop serves users and experiments alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from aegisbo.errors import AegisError
from aegisbo.outcome import Outcome, Report

if TYPE_CHECKING:  # worker processes import this file, and need none of it
    from aegisbo.events import Event


class StopRun(AegisError):
    """Raised to end a run now, for example by a `watch` function; the message says why."""


class Interrupted(StopRun):
    """A signal ended the run."""


class WorkersGone(StopRun):
    """The workers take no more jobs; the message says why, and how to continue."""


@dataclass(frozen=True)
class Finished:
    """A job that has ended, and when, in seconds on the workers' clock."""

    number: int
    outcome: Outcome
    started: float  # handed to the workers
    finished: float  # collected from them
    event: Event | None = None  # its record in the study, if the workers wrote one

    @property
    def seconds(self) -> float:
        """How long the evaluation took; the rest of the time its worker was starting up."""
        return self.finished - self.started if self.outcome.seconds is None else self.outcome.seconds


@dataclass(frozen=True)
class Heard:
    """A report of a job that is running."""

    number: int
    report: Report
    event: Event | None = None  # its record in the study, if the workers wrote one


News = Finished | Heard  # of jobs


def first_of(free: Iterable[int], paces: Mapping[int, float]) -> int:
    """The worker that gets the next job: the fastest, and of those that are alike the one with the lowest number."""
    return min(free, key=lambda worker: (paces.get(worker, 1.0), worker))


class Workers(Protocol):
    """Up to `capacity` jobs at a time, by trial number."""

    @property
    def capacity(self) -> int: ...

    @property
    def next_worker(self) -> int:
        """Which worker the next job is for; one must be free."""

    def prefer(self, paces: Mapping[int, float]) -> None:
        """From now on let the next worker be the one of the lowest pace; those without have the pace 1."""

    @property
    def can_stop(self) -> bool:
        """Whether `stop` ends a running job; if not, `give_up` it, and it keeps its worker until it ends by itself."""

    def called(self, number: int) -> float | None:
        """When the function was called for a running job, or when it was submitted if the pool cannot know.

        None if it has not been called yet, or the job has ended.
        """

    def submit(self, number: int, x: Any) -> int:
        """Start evaluating `x`; a worker must be free. Returns its number, counted from 0."""

    def collect(self, timeout: float | None = None) -> Sequence[News]:
        """Wait until a job ends or reports, or `timeout` seconds have passed, and return all that have, each once.

        All news of a job come in order, and jobs that ended at the same instant in order of their numbers. With a
        timeout of zero the call does not wait. Without a timeout it waits as long as it takes; it returns at once if
        nothing is running.
        """

    def tell(self, number: int, reason: str = "") -> None:
        """Answer the last report of a running job: end it politely for this reason, or let it go on if that is empty.

        Workers that no report can reach do nothing.
        """

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        """End a running job, which `collect` then returns as timed out for this reason; do nothing if it has ended."""

    def give_up(self, number: int) -> bool:
        """Record nothing more about a running job, which `collect` still returns; False if it has ended."""

    def close(self) -> None:
        """Abandon all running jobs and release the workers."""

    def now(self) -> float:
        """Seconds on the clock that `started` and `finished` refer to."""
