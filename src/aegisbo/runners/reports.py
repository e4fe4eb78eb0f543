"""What an evaluation says while it runs, `aegisbo.report`, and how it hears that the run does not need it any more.

A report travels on a line: each kind of workers has its own. There may be thousands, so few are sent. The last one goes
with the outcome, and so do all where there is no line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition, RLock
from time import perf_counter
from typing import Any, TypeVar

from aegisbo.errors import AegisError, Stopped
from aegisbo.outcome import Report, as_report

GAP = 0.5  # seconds from one report that is sent to the next, at least,
SHARE = 0.02  # and as a share of the time that the evaluation has taken: the longer it runs, the fewer there are
WAIT = 0.05  # of the time since the report before, for which an evaluation waits for the answer to one,
LONGEST_WAIT = 2.0  # and seconds at most

Answer = TypeVar("Answer")


class Line:
    """Between an evaluation and its run: reports go one way, and for each an answer comes back if anybody decides."""

    def __init__(self, send: Callable[[Report], None]) -> None:
        self._send = send
        self._change = Condition()
        self._open = 0  # reports that were not answered yet
        self._stop = ""

    def say(self, report: Report, wait: float) -> None:
        """Send a report, and wait so many seconds for the answer."""
        with self._change:
            self._open += 1
        self._send(report)
        with self._change:
            self._change.wait_for(lambda: self._open <= 0 or self._stop, wait)

    def hear(self, reason: str) -> None:
        """Take the answer: why the evaluation must stop; empty if it may go on. Any thread may call this."""
        with self._change:
            self._open -= 1
            self._stop = self._stop or reason
            self._change.notify_all()

    @property
    def stop(self) -> str:
        """Why the evaluation must stop; empty if it need not."""
        return self._stop


class Reporter:
    """What one evaluation reports."""

    def __init__(self, line: Line | None, *, answered: bool) -> None:
        self.unsent: list[Report] = []  # to go with the outcome
        self.last: Report | None = None
        self.stopped = ""  # why `report` has raised `Stopped`
        self.begin = perf_counter()  # of the evaluation: reports and outcome count their seconds from here
        self._line, self._answered = line, answered
        self._process, self._lock = os.getpid(), RLock()
        self._sent: Report | None = None  # the last one
        self._over = False

    def report(self, value: object, step: object) -> None:
        """Report, and raise `Stopped` if the run does not need this evaluation any more."""
        if os.getpid() != self._process:
            raise AegisError("aegisbo.report was called in a child process: call it where the function was called.")
        with self._lock:
            if self._over:
                return  # by a thread that the function has left behind
            following = 1.0 if self.last is None else self.last.step + 1.0
            seconds = perf_counter() - self.begin
            self.last = as_report(value, following if step is None else step, seconds)
            before = 0.0 if self._sent is None else self._sent.seconds or 0.0
            if self._sent is None or seconds - before >= max(GAP, SHARE * seconds):
                self._send(self.last, min(WAIT * (seconds - before), LONGEST_WAIT) if self._answered else 0.0)
            if self._line is not None and self._line.stop:
                self.stopped = self._line.stop
                raise Stopped(self.stopped)

    def end(self) -> None:
        """Keep the last report, if it was not sent, for the outcome: on the line it might come too late."""
        with self._lock:
            self._over = True
            if self.last is not None and self.last is not self._sent:
                self.unsent.append(self.last)

    def _send(self, report: Report, wait: float) -> None:
        self._sent = report
        if self._line is None:
            self.unsent.append(report)
        else:
            self._line.say(report, wait)


_line: ContextVar[Line | None] = ContextVar("_line", default=None)  # of the evaluation that this thread will run
_reporter: ContextVar[Reporter | None] = ContextVar("_reporter", default=None)  # of the one that it runs
_running: list[Reporter] = []  # in this process, in any thread


def called_on(line: Line | None, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call what runs an evaluation, whose reports go on this line."""
    token = _line.set(line)
    try:
        return function(*arguments)
    finally:
        _line.reset(token)


@contextmanager
def reporting(*, answered: bool) -> Iterator[Reporter]:
    """The reports of an evaluation that runs in this context, which waits for answers if there will be any."""
    reporter = Reporter(_line.get(), answered=answered)
    token = _reporter.set(reporter)
    _running.append(reporter)
    try:
        yield reporter
    finally:
        _running.remove(reporter)
        _reporter.reset(token)
        reporter.end()


def report(value: float, step: float | None = None) -> None:
    """Say how far an evaluation is, from inside the function; with `stop_early` the run may then stop it.

    Outside an evaluation this does nothing, so a function can be tried by hand.

    Args:
        value: what has been reached, in the sense of what the function returns; NaN if it diverges. If the function
            returns None, the last value reported is its value.
        step: how many steps it took, such as epochs; one more than last time unless given. Going back to an earlier
            step drops the reports from there on.

    Raises:
        Stopped: the run does not need this evaluation any more. Let it pass, after tidying up.
        InvalidInput: the value or the step is not a number.
        AegisError: this is a child process of the one in which the function was called.
    """
    if (reporter := reporter_here()) is not None:
        reporter.report(value, step)
    else:
        as_report(value, 1.0 if step is None else step)


def reporter_here() -> Reporter | None:
    """The one of the evaluation that runs here; that of another thread if it is the only one in this process."""
    here = _reporter.get()
    return _running[0] if here is None and len(_running) == 1 else here


def or_last_reported(answer: Answer) -> Answer | float | None:
    """What a function has returned; if that is nothing, the last value that it reported."""
    reporter = reporter_here()
    if answer is not None or reporter is None or reporter.last is None:
        return answer
    value = reporter.last.value
    return float("nan") if value is None else value
