"""`work`: one of many copies that share a study; each can be killed, and no other process must live for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from aegisbo.optimizer import Found, Optimizer, Settings, Trial
from aegisbo.optimizer.limits import names_of
from aegisbo.outcome import Outcome, judged
from aegisbo.runners.arguments import check_arguments, check_call
from aegisbo.runners.command import leave_nothing, reading, warn_if_unused
from aegisbo.runners.evaluation import Call
from aegisbo.runners.interrupt import EndAtOnce
from aegisbo.runners.loop import SPENT, run
from aegisbo.runners.observed import Elsewhere, observed_elsewhere
from aegisbo.runners.pools import make_pool
from aegisbo.runners.pools.environment import WorkerEnv
from aegisbo.runners.progress import progress_of
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.protocol import Asked, StopRun
from aegisbo.runners.recipe import objective_of, recipe
from aegisbo.runners.steering import Scope, Steering
from aegisbo.runners.watch import Watch
from aegisbo.study.events import read_events
from aegisbo.study.history import optimizer_after
from aegisbo.study.shared import LEASE, Shared
from aegisbo.study.study import settings_of


def work(
    fun: Callable[..., Any],
    study: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    budget: int | None = None,
    workers: int = 1,
    threads_per_worker: int | None = None,
    worker_env: WorkerEnv | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 2,
    target: float | None = None,
    give_up_after: int | None = 20,
    lease: float = LEASE,
    observed: Any = None,
    progress: bool | None = None,
    anyway: bool = False,
) -> Found[Optimizer]:
    """Evaluate trials of a study that other copies share, until its budget is spent.

    Args:
        fun: the function, or a `Command`.
        study: the file; the first copy makes it.
        settings: of a new study, or the same as those of the study; None if it exists.
        budget: evaluations of all copies together, for all from now on; None for what the study says.
        workers: how many evaluations this copy runs at a time.
        threads_per_worker: BLAS and OpenMP threads of each worker process; None for an equal share of the cores.
        worker_env: environment variables of the worker processes, as for `minimize`.
        timeout: seconds for this copy.
        trial_timeout: seconds for one evaluation.
        retries: how often an evaluation is run again whose worker or copy died.
        target: a value that is good enough to stop.
        give_up_after: end this copy when so many of its evaluations have ended and none of them gave a value.
        lease: seconds without a sign of life after which others take over the trials of this copy.
        observed: earlier results, as for `minimize`; what another copy has added already is not added again.
        progress: whether to show progress; None shows it on a terminal only.
        anyway: go on with a study that holds values of another function.

    Returns:
        The result of the whole study when this copy ended.

    Raises:
        InvalidInput: an argument cannot be used.
        StudyError: the study holds another run, is driven by `minimize`, or cannot be written.
    """
    check_arguments(
        study=study,
        timeout=timeout,
        trial_timeout=trial_timeout,
        lease=lease,
        retries=retries,
        target=target,
        give_up_after=give_up_after,
        progress=progress,
        anyway=anyway,
        **({} if budget is None else {"budget": budget}),
    )
    if settings is not None:
        check_call(fun, settings.space, "processes", workers, threads_per_worker, worker_env)
    elsewhere = _elsewhere(observed, settings, fun, study)
    scope = Scope(budget or 0, workers, timeout, trial_timeout, retries, target, give_up_after)
    call = {**scope.describe(), "budget": budget, **recipe(fun)}
    with ExitStack() as stack:
        shared = stack.enter_context(
            Shared.open(
                study,
                settings,
                logger.warning,
                objective=objective_of(fun),
                call=call,
                anyway=anyway,
                lease=lease,
                retries=retries,
            )
        )
        optimizer, copy = shared.optimizer, _Copy(shared)
        check_call(fun, optimizer.space, "processes", workers, threads_per_worker, worker_env)
        warn_if_unused(fun, optimizer.space.parameters)
        shared.learn(elsewhere.earlier)
        pool = make_pool(
            "processes",
            Call(reading(fun, optimizer.settings), optimizer.space.named),
            workers,
            copy,
            judge=partial(judged, needed=names_of(optimizer.settings.limits)),
            threads_per_worker=threads_per_worker,
            worker_env=worker_env,
        )
        stack.callback(leave_nothing, fun)
        stack.callback(pool.close)
        tell = stack.enter_context(progress_of(optimizer, pool, shared.budget, progress, study))
        scope = replace(scope, budget=shared.budget).changed(shared.changed, study)
        watch = Watch(optimizer, (), scope.target, scope.give_up_after, tell, study)
        heed = Steering(shared.requests, optimizer, pool, watch, scope)
        stack.enter_context(EndAtOnce(shared.hurry))
        record = run(
            copy,
            pool,
            sys.maxsize,
            rules=scope.rules,
            journal=copy,
            watch=watch,
            more=lambda: not shared.moved,  # it shares with nobody then
            heed=heed,
        )
        shared.leave(shared.moved or record.message, [asdict(idle) for idle in record.idle])
    whole = optimizer_after(read_events(shared.file))  # others may have gone on since
    result = replace(whole.found(shared.moved or record.message), idle=record.idle_shares, study=shared.file)
    result = replace(result, success=result.success and not record.interrupted)
    logger.info(result.summary)
    return result


def _elsewhere(
    observed: Any, settings: Settings | None, fun: Callable[..., Any], study: str | os.PathLike[str]
) -> Elsewhere:
    """What was observed elsewhere, in the space of the study."""
    if observed is None:
        return Elsewhere()
    known = settings or settings_of(read_events(Path(study)))
    return observed_elsewhere(observed, known, fun, study)


class _Copy:
    """A shared study as the optimizer and the journal of a loop: it is the study that counts and hands out."""

    pending: tuple[Trial, ...] = ()  # the study hands them out
    memory: Mapping[str, Any] = {}  # which the study has written down
    seen = 0

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def ask(self, *, within: float | None = None) -> Trial | None:
        """A trial to run, written down already; None if others run all that is left, and may leave some."""
        trial = self._shared.ask(within)
        if trial is None and self._shared.spent:
            raise StopRun(SPENT)
        return trial

    def end(self, number: int, outcome: Outcome) -> None:
        """Let the optimizer know what has been written down, by this copy and by others."""
        self._shared.catch_up()

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> None:
        """Do nothing: `ask` has written it down."""

    def ended(self, number: int, outcome: Outcome, seconds: float) -> int:
        """Write down how an evaluation ended."""
        return self._shared.ended(number, outcome, seconds)
