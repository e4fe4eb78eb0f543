"""Evaluations by any executor of concurrent.futures."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from aegisbo.errors import AegisError
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation, in_words
from aegisbo.runners.packing import evaluate_packed, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.protocol import Journal


class Futures(Pool):
    """Jobs of an executor that belongs to the caller and stays open."""

    name = "Jobs of this executor"
    prints_here = True  # its processes, too, have this process's terminal

    def __init__(self, executor: Executor, evaluation: Evaluation, capacity: int, journal: Journal | None) -> None:
        super().__init__(capacity, journal)
        self._executor = executor
        # Threads can call the function as it is; for other processes and machines it is packed.
        self._packs = not isinstance(executor, ThreadPoolExecutor)
        self._call = partial(evaluate_packed, pack(evaluation)) if self._packs else evaluation
        self._futures: dict[int, Future[Any]] = {}

    def close(self) -> None:
        """Cancel what has not begun; what has cannot be stopped."""
        self._forget()
        for future in tuple(self._futures.values()):
            future.cancel()

    def _start(self, number: int, x: Any, worker: int) -> None:
        try:
            future = self._executor.submit(self._call, x)
        except RuntimeError as error:  # broken, or shut down
            raise AegisError(f"The executor takes no more jobs ({error}): make a new one and call again.") from error
        self._futures[number] = future
        future.add_done_callback(lambda done: self._done(number, done))

    def _done(self, number: int, future: Future[Any]) -> None:
        self._futures.pop(number, None)
        try:
            outcome = unpack_outcome(future.result()) if self._packs else future.result()
        except (BrokenExecutor, CancelledError) as error:
            outcome = Outcome("lost", reason=in_words(error))
        except BaseException as error:  # x could not be sent
            outcome = Outcome("failed", reason=in_words(error))
        self._ended(number, outcome)
