"""Evaluations by any executor of concurrent.futures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by, taking
from aegisbo.runners.protocol import WorkersGone
from aegisbo.runners.reports import Line, called_on
from aegisbo.runners.slots import at_slot

SIZES = ("_max_workers", "num_workers", "max_workers")  # attributes with the number of workers


class Futures(Pool):
    """Jobs of an executor: the caller's, which stays open, or one made by a given function.

    The latter is ours: it is shut down at the end and replaced when it breaks. loky's shared executor is replaced too,
    but stays open.
    """

    name = "Jobs of this executor"
    prints_here = True  # its processes share this process's terminal

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        evaluation: Evaluation,
        capacity: int | None,  # None for the executor's number of workers
        cores: int,  # used if that is unknown
    ) -> None:
        self._ours = not isinstance(executor, Executor)
        self._make = _maker_of(executor) if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else _made(executor)
        size = next((size for name in SIZES if isinstance(size := getattr(self._executor, name, None), int)), cores)
        super().__init__(capacity or size)
        self._futures: dict[int, tuple[Executor, Future[Any]]] = {}  # by number
        self._lines: dict[int, Line | None] = {}  # by number; only threads have one
        self._broken: tuple[Executor | None, bool] = None, False  # the last one, and whether it had several jobs
        # Threads call the function directly; for other processes and machines it is packed.
        self.packs = not isinstance(self._executor, ThreadPoolExecutor)
        self.hears = not self.packs  # futures bring nothing back before the end
        try:
            self._call = partial(evaluate_packed, pack(evaluation)) if self.packs else evaluation
        except InvalidInput:
            self.close()
            raise

    def close(self) -> None:
        """Cancel a job that has not begun; one that has cannot be stopped."""
        self._forget()
        for _, future in tuple(self._futures.values()):
            with suppress(Exception):  # some cannot cancel and say so; others claim to have canceled but continue
                future.cancel()
        if self._ours:
            _shut_down(self._executor)

    def tell(self, number: int, reason: str = "") -> None:
        if (line := self._lines.get(number)) is not None:
            line.hear(reason)

    def _start(self, number: int, point: Any, worker: int) -> None:
        line = self._lines[number] = Line(partial(self._heard, number)) if self.hears else None
        future = self._submitted_future(called_on, line, at_slot, worker, self._call, point)
        self._futures[number] = executor, _ = self._executor, future
        future.add_done_callback(lambda done: self._done(number, executor, done))

    def _submitted_future(self, *call: Any) -> Future[Any]:
        kind = type(self._executor).__name__
        made = "..." if kind.startswith("_") else f"{kind}(...)"  # a private class should not be named
        remedy = f". To have it replaced when it breaks, give a function that makes it, executor=lambda: {made}, and"
        try:
            with taking("The executor takes no more jobs", remedy):
                return self._executor.submit(*call)
        except WorkersGone:  # it is broken, or shut down
            if self._make is None:
                raise
        _shut_down(self._executor)
        self._executor = _made(self._make)
        with taking("The executor broke, and the new one takes no jobs", ": see what is wrong with it, and"):
            return self._executor.submit(*call)

    def _done(self, number: int, executor: Executor, future: Future[Any]) -> None:
        try:
            answer = future.result()
            outcome = unpack_outcome(answer) if self.packs else answer
        except BrokenExecutor as error:
            outcome = lost_by(error, shared=self._several_in(executor))
        except BaseException as error:
            outcome = lost_by(error)
        self._futures.pop(number, None)
        self._lines.pop(number, None)
        self._ended(number, outcome)

    def _several_in(self, executor: Executor) -> bool:
        """Whether several jobs were in this executor when it broke: then the culprit is unknown."""
        if self._broken[0] is not executor:  # the first of its jobs to end
            jobs = [each for each, _ in tuple(self._futures.values()) if each is executor]
            self._broken = executor, len(jobs) > 1
        return self._broken[1]


def _maker_of(executor: Executor) -> Callable[[], Any] | None:
    """A function that makes an executor like this one; None if only its owner knows how.

    loky recreates its reusable executor itself if only the number of workers was given.
    """
    make = getattr(sys.modules.get(type(executor).__module__), "get_reusable_executor", None)
    if make is None or not hasattr(executor, "executor_id"):
        return None
    if getattr(executor, "_initializer", True) or getattr(executor, "_env", True):
        return None
    return partial(make, getattr(executor, "_max_workers", None))


def _made(make: Callable[[], Any]) -> Executor:
    executor = make()
    if not isinstance(executor, Executor):
        raise InvalidInput(f"executor() returned {executor!r}: it must make a concurrent.futures.Executor.")
    return executor


def _shut_down(executor: Executor) -> None:
    """Shut down an executor of ours without waiting for its jobs."""
    with suppress(Exception):  # it may be broken
        try:
            executor.shutdown(wait=False, cancel_futures=True)
        except TypeError:  # not all executors can cancel
            executor.shutdown(wait=False)
