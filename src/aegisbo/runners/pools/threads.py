"""Evaluations in this process: in threads, or one after the other for debugging."""

from __future__ import annotations

from functools import partial
from logging import getLogger
from threading import Thread
from typing import Any

from aegisbo.outcome import Report
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.reports import Line, called_on
from aegisbo.runners.slots import at_slot


class Threads(Pool):
    """A thread for each evaluation: for functions that wait for something else, or that release Python's lock."""

    name = "Threads"
    packs = False
    hears = True
    prints_here = True

    def __init__(self, evaluation: Evaluation, capacity: int) -> None:
        super().__init__(capacity)
        self._evaluation = evaluation
        self._lines: dict[int, Line] = {}  # by number

    def close(self) -> None:
        """Forget running jobs: a thread cannot be stopped, but does not keep the program alive either."""
        self._forget()

    def tell(self, number: int, reason: str = "") -> None:
        if (line := self._lines.get(number)) is not None:
            line.hear(reason)

    def _start(self, number: int, point: Any, worker: int) -> None:
        Thread(target=self._evaluate, args=(number, point, worker), daemon=True).start()

    def _evaluate(self, number: int, point: Any, worker: int) -> None:
        self._lines[number] = line = Line(partial(self._heard, number))
        outcome = called_on(line, at_slot, worker, self._evaluation, point)
        if self._lines.get(number) is line:  # it was not given up, and evaluated again meanwhile
            del self._lines[number]
        self._ended(number, outcome)


class Serial(Threads):
    """One evaluation at a time in the calling thread, where a debugger sees it."""

    name = "Evaluations in the calling thread"
    when_late = "is waited for"

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation, 1)

    def _heard(self, number: int, report: Report) -> None:
        """Answer here: this is the driver's thread, which would not look before the end."""
        if self.journal is not None:
            self.tell(number, self.journal.answer(self.journal.reported(number, report), number))

    def resize(self, capacity: int) -> None:
        """Warn that there is only one thread."""
        getLogger("aegisbo").warning(f"{self.name} run one at a time: workers={capacity} changes nothing.")

    def _start(self, number: int, point: Any, worker: int) -> None:
        self._evaluate(number, point, worker)
