"""Evaluations by any executor of concurrent.futures."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from aegisbo.errors import AegisError
from aegisbo.runners.journal import Journal
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.sending import evaluate_packed, packed
from aegisbo.runners.workers import Outcome, evaluate, in_words


class Executors(Pool):
    """Jobs handed to somebody else's executor, which stays open."""

    name = "Jobs of this executor"

    def __init__(self, executor: Executor, function: Callable[[Any], Any], capacity: int, journal: Journal) -> None:
        super().__init__(capacity, journal)
        self._executor = executor
        # Threads can call the function as it is; whoever is further away needs it packed.
        threads = isinstance(executor, ThreadPoolExecutor)
        self._call = partial(evaluate, function) if threads else partial(evaluate_packed, packed(function))
        self._futures: dict[int, Future[Outcome]] = {}

    def close(self) -> None:
        """Cancel what has not begun; what has cannot be stopped."""
        self._forget()
        for future in tuple(self._futures.values()):
            future.cancel()

    def _start(self, number: int, x: Any) -> None:
        try:
            future = self._executor.submit(self._call, x)
        except RuntimeError as error:  # broken, or shut down
            raise AegisError(f"The executor takes no more jobs ({error}): make a new one and call again.") from error
        self._futures[number] = future
        future.add_done_callback(lambda done: self._done(number, done))

    def _done(self, number: int, future: Future[Outcome]) -> None:
        self._futures.pop(number, None)
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError) as error:
            outcome = Outcome("lost", reason=in_words(error))
        except BaseException as error:  # x or the outcome could not be sent
            outcome = Outcome("failed", reason=in_words(error))
        self._ended(number, outcome)
