"""Calling the user's function, wherever it runs: here, in a worker process or on another machine.

An evaluation always has an outcome, whatever the function does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter, time
from traceback import format_exc
from typing import Any

from aegisbo.outcome import Outcome, judged
from aegisbo.runners.protocol import StopRun

Judge = Callable[[object], Outcome]  # what an answer of the function means
Evaluation = Callable[[Any], Outcome]  # a function and its judge: from a point to its outcome


@dataclass(frozen=True)
class Call:
    """The user's function, called the way its parameters are given. Here, because workers load it."""

    fun: Callable[..., Any]
    named: bool

    def __call__(self, x: Any) -> Any:
        # A vector of the function's own: the one that the trial keeps must not change.
        return self.fun(**x) if self.named else self.fun(x.copy())


def evaluate(function: Callable[[Any], Any], x: Any, judge: Judge = judged, *, raising: bool = False) -> Outcome:
    """Call the function and judge its answer.

    Args:
        function: the user's function.
        x: its argument.
        judge: what an answer means; by default it must be one finite real number.
        raising: whether an exception of the function is let through; else it is an outcome too.

    Returns:
        The outcome, with the seconds that the function took.

    Raises:
        StopRun: the run was ended while the function was running in this thread.
    """
    began, begin = time(), perf_counter()
    try:
        outcome = judge(function(x))
    except StopRun:  # not an error of the function: the run ends around it
        raise
    except KeyboardInterrupt:  # Ctrl-C also reaches processes that others started: the point is not to blame
        outcome = Outcome("lost", reason="Interrupted by Ctrl-C.")
    except BaseException as error:  # sys.exit() in the function ends the evaluation, not the worker
        if raising:
            raise
        outcome = _failure(error)
    return replace(outcome, seconds=perf_counter() - begin, began=began)


def _failure(error: BaseException) -> Outcome:
    if isinstance(error, ImportError):  # a module is missing or broken where the function runs: no fault of the point
        return Outcome("lost", reason=in_words(error), traceback=format_exc(), unusable=True)
    return Outcome("failed", reason=in_words(error), traceback=format_exc())


def in_words(error: BaseException) -> str:
    """The kind of an exception and what it says, if it can."""
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except Exception:
        return type(error).__name__
