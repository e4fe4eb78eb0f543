"""What the loop needs from workers: start a job, hand back what has ended, tell the time.

Real pools and the virtual clock stand behind the same few calls, so that one loop serves users and experiments alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from aegisbo.errors import AegisError
from aegisbo.outcome import Outcome


class StopRun(AegisError):
    """Raised by whoever watches a run, to end it now; the message says why."""


@dataclass(frozen=True)
class Finished:
    """A job that has ended, and when, in seconds of the workers' clock."""

    number: int
    outcome: Outcome
    started: float  # handed to the workers
    finished: float  # handed back
    event: int = 0  # its place in the journal, if there is one

    @property
    def seconds(self) -> float:
        """How long the evaluation took; the rest of the time it waited for the pool."""
        return self.finished - self.started if self.outcome.seconds is None else self.outcome.seconds


class Workers(Protocol):
    """Up to `capacity` jobs at a time, known by trial number."""

    @property
    def capacity(self) -> int: ...

    @property
    def can_stop(self) -> bool:
        """Whether `stop` ends a running job; if not, the job keeps its worker until it ends by itself."""

    def submit(self, number: int, x: Any) -> None:
        """Start evaluating `x`; a worker must be free."""

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """Wait until a job ends or `timeout` seconds have passed, and hand back all that ended, each once.

        Jobs that ended at the same instant come in order of their numbers. Zero seconds only looks; without a
        timeout the call waits as long as it takes, and returns at once if nothing is running.
        """

    def stop(self, number: int) -> None:
        """End a running job, which `collect` then hands back as timed out; one that has ended is left alone."""

    def close(self) -> None:
        """Abandon whatever is running and let the workers go."""

    def now(self) -> float:
        """Seconds on the clock that `started` and `finished` refer to."""
