"""The pool for an `executor` argument: worker processes, threads, a user's executor, or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from logging import getLogger
from typing import Any

from aegisbo.errors import InvalidInput, require_posix
from aegisbo.executors import Ray, Slurm, named
from aegisbo.number import as_whole
from aegisbo.outcome import MOST_WORKERS, judged
from aegisbo.printable import brief
from aegisbo.runners.evaluation import Evaluation, Judge, evaluate
from aegisbo.runners.interrupt import interruptible
from aegisbo.runners.output import with_output
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.dask import Dask, connect
from aegisbo.runners.pools.environment import WorkerEnv, by_slot, whole_environments
from aegisbo.runners.pools.futures import Futures
from aegisbo.runners.pools.slurm import SlurmJobs
from aegisbo.runners.pools.threads import Serial, Threads
from aegisbo.study import Study

HERE = ("processes", "threads", "serial")  # workers on this machine
OUR_PROCESSES = ("processes", "slurm")  # their environment is set here


def make_pool(
    executor: Any,
    function: Callable[[Any], Any],
    workers: int | None,  # jobs at a time; None for the executor's number of workers, or the machine's cores
    journal: Study | None = None,  # the end of every job is recorded there before the pool returns it
    *,
    judge: Judge = judged,  # turns an answer of the function into an outcome
    answered: bool = False,  # whether somebody decides about what evaluations report
    threads_per_worker: int | None = None,
    worker_env: WorkerEnv | None = None,
    raise_errors: bool = False,
) -> Pool:
    """Make the pool for an `executor` argument as in `aegisbo.minimize`. Close it after use.

    With `raise_errors`, "serial" raises an exception of the function unchanged from `submit`, and the others raise
    EvaluationFailed from `collect`.

    Raises:
        InvalidInput: the executor is none of these, the function cannot be sent to it, or its threads are not ours.
        MissingExtra: the package of a cluster is not installed.
        AegisError: the cluster does not answer, or this system has no worker processes.
    """
    kind, executor = check_executor(executor, workers, threads_per_worker, worker_env)
    if kind == "serial":
        function = interruptible()(function)  # the function alone: the code around it must not be interrupted
    raising = raise_errors and kind == "serial"
    evaluation = partial(evaluate, function, judge=judge, raising=raising, answered=answered)
    if kind == "processes":
        require_posix("Worker processes", instead='executor="threads"')
        from aegisbo.runners.pools.processes import Processes  # here, because Windows cannot load it

        environments = partial(whole_environments, worker_env, threads_per_worker, _cores())
        pool: Pool = Processes(evaluation, environments, workers or _cores())
    elif kind == "slurm":
        variables = partial(by_slot, worker_env)
        pool = SlurmJobs(executor, partial(with_output, evaluation), variables, workers or 1)
    else:
        pool = _elsewhere(kind, executor, partial(with_output, evaluation), workers, answered=answered)
    pool.journal, pool.raise_errors = journal, raise_errors
    if answered and not pool.hears:
        getLogger("aegisbo").warning(f"{pool.name} cannot be stopped early: their reports come when they have ended.")
    return pool


def _elsewhere(kind: str, executor: Any, evaluation: Evaluation, workers: int | None, *, answered: bool) -> Pool:
    """A pool whose environment is not set here."""
    if kind == "threads":
        return Threads(evaluation, workers or _cores())
    if kind == "serial":
        return Serial(evaluation)
    if kind == "futures":
        return Futures(executor, evaluation, workers, _cores())
    if kind == "dask":
        ours = isinstance(executor, str)
        return Dask(connect(executor) if ours else executor, evaluation, workers, ours=ours)
    from aegisbo.runners.pools.ray import RayTasks  # here, because it takes a moment to load

    return RayTasks(executor, evaluation, workers, answered=answered)


def check_executor(
    executor: Any, workers: int | None, threads_per_worker: int | None = None, worker_env: WorkerEnv | None = None
) -> tuple[str, Any]:
    """The kind of pool for an `executor` argument, and what it is made from.

    Raises:
        InvalidInput: there is none, or it cannot have such workers; the message says what to give instead.
    """
    kind, executor = _kind_of(executor)
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
        if kind not in OUR_PROCESSES:
            raise InvalidInput(
                'worker_env is for executor="processes" and "slurm": set variables where the workers of this executor '
                "are started, or let the function look at aegisbo.worker().slot."
            )
        by_slot(worker_env, workers or _cores())
    return kind, executor


def _kind_of(executor: Any) -> tuple[str, Any]:
    if isinstance(executor, str):
        if executor in HERE:
            return executor, None
        if "://" in executor:
            return "dask", executor
        executor = named(executor) or executor
    kinds: dict[str, Any] = {"processes": type(None), "futures": Executor, "slurm": Slurm, "ray": Ray}
    for kind, types in kinds.items():
        if isinstance(executor, types):
            return kind, executor
    if type(executor).__module__.startswith("distributed."):
        return "dask", executor
    if callable(executor):
        return "futures", executor
    raise InvalidInput(
        f'executor is {executor!r}: use "processes", "threads", "serial", "slurm", "ray", a '
        "concurrent.futures.Executor or a function that makes one, a dask.distributed.Client, or the address of a Dask "
        "scheduler."
    )


def _cores() -> int:
    """Cores that this process may use; macOS only knows how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
