"""One driver for every run: alone or among copies, with a file or without."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from aegisbo.optimizer import Core, Found
from aegisbo.options import Options
from aegisbo.outcome import judged
from aegisbo.runners.command import leave_nothing, reading, warn_if_unused
from aegisbo.runners.evaluation import Call
from aegisbo.runners.loop import run
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.progress import progress_of
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.run import Run
from aegisbo.runners.steering import Steering, warn_if_unstoppable
from aegisbo.runners.trial_folders import trial_folders
from aegisbo.runners.watch import Callback, Judge, Watch, never
from aegisbo.study.study import Study


def drive(
    study: Study,
    fun: Callable[..., Any],
    options: Options,  # of the call, with all that was changed since
    budget: int,  # evaluations to finish from now on
    signals: AbstractContextManager[object],  # handles Ctrl-C while the run goes on
    more: Callable[[], bool],  # whether further points may be asked for
    callbacks: tuple[Callback, ...] = (),
    *,
    judge: Judge = never,  # of `stop_when`
) -> Run:
    """Evaluate trials of a run until it ends, and write down how it did."""
    optimizer = study.optimizer
    warn_if_unused(fun, optimizer.space.parameters)
    for function in optimizer.settings.known.functions.values() if optimizer.settings.known else ():
        function.require_here()
    with ExitStack() as stack:
        folders = stack.enter_context(trial_folders(study))
        pool = make_pool(
            options.executor,
            Call(reading(fun, optimizer.settings), optimizer.space.named, optimizer.settings.known),
            options.workers,
            study,
            judge=partial(judged, wanted=optimizer.settings.wanted),
            answered=optimizer.settings.stop_early is not None,
            threads_per_worker=options.threads_per_worker,
            worker_env=options.worker_env,
            raise_errors=options.executor == "serial" if options.raise_errors is None else options.raise_errors,
        )
        stack.callback(leave_nothing, fun)
        stack.callback(pool.close)
        warn_if_unstoppable(pool, options.trial_timeout)
        tell = stack.enter_context(progress_of(optimizer, pool, options.budget, options.progress, study.path))
        stack.enter_context(signals)
        watch = Watch(optimizer, callbacks, options, tell, study.path, judge)
        heed = None if study.path is None else Steering(study.requests, optimizer, pool, watch)
        place = {} if folders is None else {"place": folders.place}
        record = run(
            study, pool, budget, options=options, watch=watch, more=more, heed=heed, ponder=watch.ponder, **place
        )
        if folders is not None:
            folders.tidy_up(optimizer)
        study.closed(study.last_words(record.message), [asdict(idle) for idle in record.idle])
    return record


def found_by(study: Study, record: Run) -> Found[Core]:
    """What a run has found that has ended like this."""
    found = replace(study.found(study.last_words(record.message)), idle=record.idle_shares)
    found = replace(found, success=found.success and not record.interrupted)
    logger.info(found.summary)
    return found
