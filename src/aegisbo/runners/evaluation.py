"""Calling the user's function, wherever it runs: here, in a worker process or on another machine.

An evaluation always has an outcome, whatever the function does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter, time
from traceback import format_exc, print_exception
from typing import Any, NoReturn

from aegisbo.errors import Stopped
from aegisbo.outcome import Answer, Ended, Outcome, judged
from aegisbo.runners.protocol import StopRun
from aegisbo.runners.reports import or_last_reported, reporting
from aegisbo.runners.slots import InFolder, in_folder

Judge = Callable[[object], Outcome]  # turns an answer of the function into an outcome
Evaluation = Callable[[Any], Outcome]  # a function and its judge: from a point to its outcome


@dataclass(frozen=True)
class Call:
    """The user's function, called in the form of its space. It is in this file because workers load it."""

    fun: Callable[..., Any]
    named: bool
    known: Callable[[Any], Mapping[str, Any]] | None = None  # what follows from the point, if anything is wanted

    def __call__(self, x: Any) -> Any:
        if self.known is not None:
            return Answer(known=self.known(x), value=self._answer(x))  # first what is quick, and may be wrong
        return self._answer(x)

    def _answer(self, x: Any) -> Any:
        # The function gets its own copy: the vector that the trial keeps must not change.
        return or_last_reported(self.fun(**x) if self.named else self.fun(x.copy()))


def evaluate(
    function: Callable[[Any], Any], x: Any, judge: Judge = judged, *, raising: bool = False, answered: bool = False
) -> Outcome:
    """Call the function and judge its answer; an exception of the function is an outcome too, unless it is `raising`.

    If its reports are `answered`, it may be told to stop. Whatever it does then, it was stopped.

    Raises:
        StopRun: the run was ended while the function was running in this thread.
    """
    if isinstance(x, InFolder):
        return in_folder(x, lambda x: evaluate(function, x, judge, raising=raising, answered=answered))
    with reporting(answered=answered) as reporter:
        outcome = _evaluate(function, x, judge, reporter.begin, raising=raising)
    if reporter.stopped:
        outcome = Outcome("stopped", reason=reporter.stopped, seconds=outcome.seconds, began=outcome.began)
    return replace(outcome, reports=tuple(reporter.unsent))


def _evaluate(function: Callable[[Any], Any], x: Any, judge: Judge, begin: float, *, raising: bool) -> Outcome:
    began, process = time(), os.getpid()
    failure: BaseException | None = None
    try:
        outcome = judge(function(x))
    except StopRun:  # not an error of the function: the run ends around it
        raise
    except Stopped as stopped:  # which the function may also raise by itself
        outcome = Outcome("stopped", reason=str(stopped) or "It stopped itself.")
    except KeyboardInterrupt:  # Ctrl-C also reaches processes of other executors: it is not a failure of the point
        outcome = Outcome("lost", reason="Interrupted by Ctrl-C.")
    except BaseException as error:  # sys.exit() in the function ends the evaluation, not the worker
        if raising and os.getpid() == process:
            raise
        failure, unusable = error, isinstance(error, ImportError)  # a module is missing or broken where this runs
        state: Ended = "lost" if unusable else "failed"
        outcome = Outcome(state, reason=error_text(error), traceback=format_exc(), unusable=unusable)
    if os.getpid() != process:
        _end_of_a_fork(failure)
    return replace(outcome, seconds=perf_counter() - begin, began=began)


def _end_of_a_fork(error: BaseException | None) -> NoReturn:
    """End a process that the function has forked and that returned from it, as if it were a script.

    The evaluation is its parent's, and so are the pipe to the driver and the study: a second answer would be taken for
    that of the next point.
    """
    code: object = 0
    if isinstance(error, SystemExit):
        code = error.code or 0
    elif error is not None:
        print_exception(error)
        code = 1
    if not isinstance(code, int):  # as after sys.exit("words")
        sys.stderr.write(f"{code}\n")
        code = 1
    with suppress(Exception):  # the function may have closed it
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code & 0xFF)


def error_text(error: BaseException) -> str:
    """The type and message of an exception, if it has one."""
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException:  # an evaluation must have an outcome, whatever happens
        return type(error).__name__
