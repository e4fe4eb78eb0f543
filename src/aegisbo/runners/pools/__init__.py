"""The pool for an `executor` argument: worker processes, threads, somebody's executor or a Dask cluster.

Each pool is loaded when it is chosen: worker processes import this package too, and need none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from aegisbo.errors import InvalidInput, require_posix
from aegisbo.outcome import judged
from aegisbo.runners.evaluation import Evaluation, Judge, evaluate
from aegisbo.runners.output import with_output

HERE = ("processes", "threads", "serial")  # workers on this machine

if TYPE_CHECKING:
    from aegisbo.runners.pools.base import Pool
    from aegisbo.runners.protocol import Journal


# Workers that each use all cores slow each other down many times over. These are the variables that joblib sets too.
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def make_pool(
    executor: Any,
    function: Callable[[Any], Any],
    workers: int | None,
    journal: Journal | None = None,
    *,
    judge: Judge = judged,
    threads_per_worker: int | None = None,
    raise_errors: bool = False,
) -> Pool:
    """The pool that an `executor` argument means.

    Args:
        executor: "processes" (or None), "threads", "serial", a concurrent.futures.Executor, a dask.distributed.Client,
            or the address of a Dask scheduler.
        function: is called with the `x` of each job.
        workers: how many jobs run at a time; None for as many as the executor has, or the machine has cores.
        journal: the end of every job is recorded there before the pool returns it.
        judge: what an answer of the function means; `kept` accepts any answer that can be pickled.
        threads_per_worker: BLAS and OpenMP threads of each worker process; None for an equal share of the cores.
        raise_errors: whether an exception of the function is raised instead of recorded: "serial" raises it from
            `submit` as it is, the others raise EvaluationFailed from `collect`.

    Returns:
        The pool. Close it after use.

    Raises:
        InvalidInput: the executor is none of these, the function cannot be sent to it, or its threads are not ours.
        MissingExtra: the executor is the address of a Dask scheduler, and Dask is not installed.
        AegisError: no Dask scheduler answers there, or this system has no worker processes.
    """
    check_executor(executor, workers, threads_per_worker)
    evaluation = partial(evaluate, function, judge=judge, raising=raise_errors and executor == "serial")
    if executor is None or executor == "processes":
        pool = _processes(evaluation, workers, journal, threads_per_worker)
    else:
        pool = _elsewhere(executor, partial(with_output, evaluation), workers, journal)
    pool.raise_errors = raise_errors
    return pool


def _processes(evaluation: Evaluation, workers: int | None, journal: Journal | None, threads: int | None) -> Pool:
    require_posix("Worker processes", instead='executor="threads"')
    from aegisbo.runners.pools.processes import Processes

    size = workers or _cores()
    return Processes(evaluation, size, journal, _environment(size, threads))


def _elsewhere(executor: Any, evaluation: Evaluation, workers: int | None, journal: Journal | None) -> Pool:
    if isinstance(executor, str) and executor in HERE:
        return _in_this_process(executor, evaluation, workers, journal)
    if isinstance(executor, str) and "://" in executor:
        from aegisbo.runners.pools.dask import Dask, connect

        return Dask(connect(executor), evaluation, workers, journal, ours=True)
    return _by_object(executor, evaluation, workers, journal)


def check_executor(executor: Any, workers: int | None, threads_per_worker: int | None = None) -> None:
    """Refuse an `executor` argument for which there is no pool, or one that cannot have so many workers and threads.

    Raises:
        InvalidInput: the message says what to give instead.
    """
    from concurrent.futures import Executor

    for name, count in (("workers", workers), ("threads_per_worker", threads_per_worker)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, Integral) or count < 1):
            raise InvalidInput(f"{name} is {count!r}: give a whole number from 1 upwards, or leave it out.")
    if threads_per_worker is not None and executor not in (None, "processes"):
        raise InvalidInput(
            f"threads_per_worker={threads_per_worker} is for worker processes: leave it out, or "
            'use executor="processes".'
        )
    named = executor in HERE or "://" in executor if isinstance(executor, str) else executor is None
    if not named and not isinstance(executor, Executor) and not _is_dask(executor):
        raise InvalidInput(
            f'executor is {executor!r}: use "processes", "threads", "serial", a concurrent.futures.Executor, '
            "a dask.distributed.Client, or the address of a Dask scheduler."
        )


def _in_this_process(name: str, evaluation: Evaluation, workers: int | None, journal: Journal | None) -> Pool:
    from aegisbo.runners.pools.threads import Serial, Threads

    if name == "threads":
        return Threads(evaluation, workers or _cores(), journal)
    return Serial(evaluation, journal)


def _by_object(executor: Any, evaluation: Evaluation, workers: int | None, journal: Journal | None) -> Pool:
    from concurrent.futures import Executor

    if isinstance(executor, Executor):
        from aegisbo.runners.pools.futures import Futures

        size: int = workers or getattr(executor, "_max_workers", None) or _cores()
        return Futures(executor, evaluation, size, journal)
    from aegisbo.runners.pools.dask import Dask

    return Dask(executor, evaluation, workers, journal, ours=False)


def _is_dask(executor: Any) -> bool:
    return type(executor).__module__.startswith("distributed.")


def _cores() -> int:
    """Cores that this process may use; macOS only knows how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _environment(workers: int, threads: int | None) -> dict[str, str]:
    """This process's environment, with limits for the numerical libraries where the user has set none."""
    share = str(threads or max(1, _cores() // workers))
    wanted = [name for name in THREAD_LIMITS if threads is not None or name not in os.environ]
    return {**os.environ, **dict.fromkeys(wanted, share)}
