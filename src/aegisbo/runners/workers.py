"""What the loop needs from workers: start a job, hand back what has ended, tell the time.

Real pools and the virtual clock stand behind the same few calls, so that one loop serves users and experiments alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from reprlib import repr as brief
from time import perf_counter
from traceback import format_exc
from typing import Any, Literal, Protocol

import numpy as np

from aegisbo.errors import AegisError

State = Literal["done", "failed", "invalid", "timed_out", "lost"]


class StopRun(AegisError):
    """Raised by whoever watches a run, to end it now; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """How an evaluation ended: with a value, or with the reason why there is none."""

    state: State
    value: float = math.nan  # a number only where the state is "done"
    reason: str = ""
    traceback: str = ""
    seconds: float | None = None  # that the function itself took, measured where it ran; None if nobody knows


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


def evaluate(function: Callable[[Any], Any], x: Any) -> Outcome:
    """Call the function, whatever it does: an exception or a value that is no finite number is an outcome too."""
    begin = perf_counter()
    try:
        outcome = _judge(function(x))
    except StopRun:  # none of the function's: the run ends around it
        raise
    except KeyboardInterrupt:  # Ctrl-C reaches processes that others started, too: no fault of the point
        outcome = Outcome("lost", reason="Interrupted by Ctrl-C.")
    except BaseException as error:  # one that exits means its evaluation, not its worker
        outcome = Outcome("failed", reason=in_words(error), traceback=format_exc())
    return replace(outcome, seconds=perf_counter() - begin)


def in_words(error: BaseException) -> str:
    """The kind of an exception and what it says, if it can."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _judge(answer: object) -> Outcome:
    if isinstance(answer, np.ndarray) and answer.size == 1:
        answer = answer.item()
    if not isinstance(answer, Real):
        return Outcome("invalid", reason=f"The function returned {brief(answer)}: it must return one real number.")
    try:
        value = float(answer)
    except OverflowError:  # an integer beyond the range of floats
        value = math.inf
    if not math.isfinite(value):
        return Outcome("invalid", reason=f"The function returned {value}: it must return a finite number.")
    return Outcome("done", value)
