"""The pool for an `executor` argument: worker processes, threads, somebody's executor, or a cluster.

Each pool is loaded when it is chosen: worker processes import this package too, and need none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from aegisbo.errors import InvalidInput, require_posix
from aegisbo.number import as_whole
from aegisbo.outcome import MOST_WORKERS, judged
from aegisbo.printable import brief
from aegisbo.runners.evaluation import Evaluation, Judge, evaluate
from aegisbo.runners.output import with_output

HERE = ("processes", "threads", "serial")  # workers on this machine
OUR_PROCESSES = ("processes", "slurm")  # whose environment is set here

if TYPE_CHECKING:
    from aegisbo.runners.pools.base import Pool
    from aegisbo.runners.pools.environment import WorkerEnv
    from aegisbo.runners.protocol import Journal


def make_pool(
    executor: Any,
    function: Callable[[Any], Any],
    workers: int | None,
    journal: Journal | None = None,
    *,
    judge: Judge = judged,
    threads_per_worker: int | None = None,
    worker_env: WorkerEnv | None = None,
    raise_errors: bool = False,
) -> Pool:
    """The pool that an `executor` argument means.

    Args:
        executor: "processes" (or None), "threads", "serial", a concurrent.futures.Executor or a function that makes
            one, a dask.distributed.Client or the address of a Dask scheduler, "slurm", "ray", or an object of
            `aegisbo.executors`.
        function: is called with the `x` of each job.
        workers: how many jobs run at a time; None for as many as the executor has, or the machine has cores.
        journal: the end of every job is recorded there before the pool returns it.
        judge: what an answer of the function means; `kept` accepts any answer that can be pickled.
        threads_per_worker: BLAS and OpenMP threads of each worker process; None for an equal share of the cores.
        worker_env: environment variables of each worker process, for all or as a function of the slot.
        raise_errors: whether an exception of the function is raised instead of recorded: "serial" raises it from
            `submit` as it is, the others raise EvaluationFailed from `collect`.

    Returns:
        The pool. Close it after use.

    Raises:
        InvalidInput: the executor is none of these, the function cannot be sent to it, or its threads are not ours.
        MissingExtra: the package of a cluster is not installed.
        AegisError: the cluster does not answer, or this system has no worker processes.
    """
    kind = check_executor(executor, workers, threads_per_worker, worker_env)
    if kind == "serial":
        from aegisbo.runners.interrupt import interruptible

        function = interruptible()(function)  # the function alone: what is around it must come to its end
    evaluation = partial(evaluate, function, judge=judge, raising=raise_errors and kind == "serial")
    if kind == "processes":
        pool = _processes(evaluation, workers, journal, threads_per_worker, worker_env)
    else:
        evaluation = partial(with_output, evaluation)
        pool = _elsewhere(kind, executor, evaluation, workers, journal, worker_env)
    pool.raise_errors = raise_errors
    return pool


def check_executor(
    executor: Any, workers: int | None, threads_per_worker: int | None = None, worker_env: WorkerEnv | None = None
) -> str:
    """Refuse an `executor` argument for which there is no pool, or workers that it cannot have.

    Returns:
        Which kind of pool it stands for.

    Raises:
        InvalidInput: the message says what to give instead.
    """
    kind = _kind_of(executor)
    for name, count in (("workers", workers), ("threads_per_worker", threads_per_worker)):
        if count is not None and as_whole(count, 1, MOST_WORKERS) is None:
            raise InvalidInput(
                f"{name} is {brief(repr(count))}: give a whole number from 1 to {MOST_WORKERS:,}, or leave it out."
            )
    if kind == "slurm" and workers is None:
        raise InvalidInput("workers is missing: say how many SLURM jobs may be queued or running at a time.")
    if threads_per_worker is not None and kind != "processes":
        raise InvalidInput(
            f"threads_per_worker={threads_per_worker} is for worker processes: leave it out, or "
            'use executor="processes".'
        )
    if worker_env is not None:
        _check_environment(worker_env, kind, workers)
    return kind


def _kind_of(executor: Any) -> str:
    from concurrent.futures import Executor

    from aegisbo.executors import Ray, Slurm, named

    if isinstance(executor, str):
        if executor in HERE:
            return executor
        if "://" in executor:
            return "dask"
        executor = named(executor) or executor
    kinds: dict[str, Any] = {"processes": type(None), "futures": Executor, "slurm": Slurm, "ray": Ray}
    for kind, types in kinds.items():
        if isinstance(executor, types):
            return kind
    if type(executor).__module__.startswith("distributed."):
        return "dask"
    if callable(executor):
        return "futures"
    raise InvalidInput(
        f'executor is {executor!r}: use "processes", "threads", "serial", "slurm", "ray", a '
        "concurrent.futures.Executor or a function that makes one, a dask.distributed.Client, or the address of a Dask "
        "scheduler."
    )


def _check_environment(worker_env: WorkerEnv, kind: str, workers: int | None) -> None:
    from aegisbo.runners.pools.environment import by_slot

    if kind not in OUR_PROCESSES:
        raise InvalidInput(
            'worker_env is for executor="processes" and "slurm": set variables where the workers of this executor are '
            "started, or let the function look at aegisbo.worker().slot."
        )
    by_slot(worker_env, workers or _cores())


def _processes(
    evaluation: Evaluation,
    workers: int | None,
    journal: Journal | None,
    threads: int | None,
    worker_env: WorkerEnv | None,
) -> Pool:
    require_posix("Worker processes", instead='executor="threads"')
    from aegisbo.runners.pools.environment import by_slot, thread_limits
    from aegisbo.runners.pools.processes import Processes

    def environments(size: int) -> list[dict[str, str]]:
        common = {**os.environ, **thread_limits(threads, max(1, _cores() // size))}
        return [{**common, **own} for own in by_slot(worker_env, size)]

    return Processes(evaluation, journal, environments, workers or _cores())


def _elsewhere(
    kind: str,
    executor: Any,
    evaluation: Evaluation,
    workers: int | None,
    journal: Journal | None,
    worker_env: WorkerEnv | None,
) -> Pool:
    if kind in HERE:
        from aegisbo.runners.pools.threads import Serial, Threads

        return Serial(evaluation, journal) if kind == "serial" else Threads(evaluation, workers or _cores(), journal)
    if kind == "futures":
        from aegisbo.runners.pools.futures import Futures

        return Futures(executor, evaluation, workers, _cores(), journal)
    if kind == "dask":
        from aegisbo.runners.pools.dask import Dask, connect

        ours = isinstance(executor, str)
        return Dask(connect(executor) if ours else executor, evaluation, workers, journal, ours=ours)
    from aegisbo.executors import named

    settings: Any = named(executor) if isinstance(executor, str) else executor
    if kind == "slurm":
        from aegisbo.runners.pools.environment import by_slot
        from aegisbo.runners.pools.slurm import SlurmJobs

        return SlurmJobs(settings, evaluation, journal, partial(by_slot, worker_env), workers or 1)
    from aegisbo.runners.pools.ray import RayTasks

    return RayTasks(settings, evaluation, workers, journal)


def _cores() -> int:
    """Cores that this process may use; macOS only knows how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
