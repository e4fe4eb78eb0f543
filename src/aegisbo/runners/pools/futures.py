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
from aegisbo.runners.slots import at_slot

SIZES = ("_max_workers", "num_workers", "max_workers")  # where executors say how many workers they have


class Futures(Pool):
    """Jobs of an executor: the caller's, which stays open, or one that a given function makes.

    That one is ours: it is shut down at the end, and when it breaks another is made. loky's executor that everybody in
    the process shares is made anew too, and stays open.
    """

    name = "Jobs of this executor"
    prints_here = True  # its processes, too, have this process's terminal

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        evaluation: Evaluation,
        capacity: int | None,  # None for as many as the executor has workers
        cores: int,  # as many otherwise
    ) -> None:
        self._ours = not isinstance(executor, Executor)
        self._make = _maker_of(executor) if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else _made(executor)
        size = next((size for name in SIZES if isinstance(size := getattr(self._executor, name, None), int)), cores)
        super().__init__(capacity or size)
        self._futures: dict[int, tuple[Executor, Future[Any]]] = {}  # by number
        self._broken: tuple[Executor | None, bool] = None, False  # the last one, and whether several jobs were there
        # Threads can call the function as it is; for other processes and machines it is packed.
        self.packs = not isinstance(self._executor, ThreadPoolExecutor)
        try:
            self._call = partial(evaluate_packed, pack(evaluation)) if self.packs else evaluation
        except InvalidInput:
            self.close()
            raise

    def close(self) -> None:
        """Cancel what has not begun; what has cannot be stopped."""
        self._forget()
        for _, future in tuple(self._futures.values()):
            with suppress(Exception):  # some cannot cancel and say so, and some say that they have but go on
                future.cancel()
        if self._ours:
            _shut_down(self._executor)

    def _start(self, number: int, point: Any, worker: int) -> None:
        future = self._submitted_future(at_slot, worker, self._call, point)
        self._futures[number] = executor, _ = self._executor, future
        future.add_done_callback(lambda done: self._done(number, executor, done))

    def _submitted_future(self, *call: Any) -> Future[Any]:
        kind = type(self._executor).__name__
        made = "..." if kind.startswith("_") else f"{kind}(...)"  # which is not to be called by its name
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
        self._ended(number, outcome)

    def _several_in(self, executor: Executor) -> bool:
        """Whether several jobs were in this executor when it broke: then nobody knows which one did it."""
        if self._broken[0] is not executor:  # the first of its jobs to end
            jobs = [each for each, _ in tuple(self._futures.values()) if each is executor]
            self._broken = executor, len(jobs) > 1
        return self._broken[1]


def _maker_of(executor: Executor) -> Callable[[], Any] | None:
    """How to make an executor like this one again; None if nobody but its owner can know.

    loky makes its reusable one again itself, if it was made with nothing but a number of workers.
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
    """Let go of an executor that is ours, without waiting for what runs in it."""
    with suppress(Exception):  # it may be broken
        try:
            executor.shutdown(wait=False, cancel_futures=True)
        except TypeError:  # not all of them can cancel
            executor.shutdown(wait=False)
