"""Which pool an `executor` argument means."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.outcome import judged
from aegisbo.runners.evaluation import Judge, evaluate
from aegisbo.runners.journal import Journal
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.futures import Executors
from aegisbo.runners.pools.processes import Processes
from aegisbo.runners.pools.threads import Serial, Threads


def make_pool(
    executor: Any,
    function: Callable[[Any], Any],
    workers: int | None,
    journal: Journal | None = None,
    *,
    judge: Judge = judged,
) -> Pool:
    """The pool that an `executor` argument means.

    Args:
        executor: "processes" (or None), "threads", "serial", a concurrent.futures.Executor, a dask.distributed.Client,
            or the address of a Dask scheduler.
        function: is called with the `x` of each job.
        workers: how many jobs run at a time; None for as many as the executor has, or the machine has cores.
        journal: every end of a job is written there before the pool hands it back.
        judge: what an answer of the function means; `kept` accepts any answer that can be pickled.

    Raises:
        InvalidInput: the executor is none of these, or the function cannot be sent to it.
        MissingExtra: the executor is the address of a Dask scheduler, but Dask is not installed.
    """
    evaluation = partial(evaluate, function, judge=judge)
    if workers is not None and workers < 1:
        raise InvalidInput(f"workers is {workers}: at least 1 is needed.")
    if executor in (None, "processes"):
        return Processes(evaluation, workers or _cores(), journal)
    if executor == "threads":
        return Threads(evaluation, workers or _cores(), journal)
    if executor == "serial":
        if workers not in (None, 1):
            raise InvalidInput(f'executor="serial" evaluates one point at a time, got workers={workers}: leave it out.')
        return Serial(evaluation, journal)
    if isinstance(executor, Executor):
        size: int = workers or getattr(executor, "_max_workers", None) or _cores()
        return Executors(executor, evaluation, size, journal)
    if isinstance(executor, str) and "://" in executor:
        from aegisbo.runners.pools.dask import Dask, connect

        return Dask(connect(executor), evaluation, workers, journal, ours=True)
    if type(executor).__module__.startswith("distributed."):
        from aegisbo.runners.pools.dask import Dask

        return Dask(executor, evaluation, workers, journal, ours=False)
    raise InvalidInput(
        f'executor is {executor!r}: use "processes", "threads", "serial", a concurrent.futures.Executor, '
        "a dask.distributed.Client, or the address of a Dask scheduler."
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
