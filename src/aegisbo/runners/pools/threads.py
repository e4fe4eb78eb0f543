"""Evaluations in this process: in threads, or one after the other for debugging."""

from __future__ import annotations

from logging import getLogger
from threading import Thread
from typing import Any

from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.slots import at_slot


class Threads(Pool):
    """A thread for each evaluation: for functions that wait for something else, or that release Python's lock."""

    name = "Threads"
    packs = False
    prints_here = True

    def __init__(self, evaluation: Evaluation, capacity: int) -> None:
        super().__init__(capacity)
        self._evaluation = evaluation

    def close(self) -> None:
        """Forget running jobs: a thread cannot be stopped, but does not keep the program alive either."""
        self._forget()

    def _start(self, number: int, point: Any, worker: int) -> None:
        Thread(target=self._evaluate, args=(number, point, worker), daemon=True).start()

    def _evaluate(self, number: int, point: Any, worker: int) -> None:
        self._ended(number, at_slot(worker, self._evaluation, point))


class Serial(Threads):
    """One evaluation at a time in the calling thread, where a debugger sees it."""

    name = "Evaluations in the calling thread"
    when_late = "is waited for"

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation, 1)

    def resize(self, capacity: int) -> None:
        """Warn that there is only one thread."""
        getLogger("aegisbo").warning(f"{self.name} run one at a time: workers={capacity} changes nothing.")

    def _start(self, number: int, point: Any, worker: int) -> None:
        self._evaluate(number, point, worker)
