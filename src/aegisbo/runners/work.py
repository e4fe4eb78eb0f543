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
from aegisbo.options import OF_A_COPY, Options
from aegisbo.outcome import Outcome, judged
from aegisbo.runners.arguments import check_call, check_file
from aegisbo.runners.command import leave_nothing, reading, warn_if_unused
from aegisbo.runners.evaluation import Call
from aegisbo.runners.interrupt import EndAtOnce
from aegisbo.runners.loop import SPENT, run
from aegisbo.runners.observed import Elsewhere, observed_elsewhere
from aegisbo.runners.pools import make_pool
from aegisbo.runners.progress import progress_of
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.protocol import Asked, StopRun
from aegisbo.runners.recipe import objective_of, recipe
from aegisbo.runners.steering import Steering, with_changes
from aegisbo.runners.watch import Watch
from aegisbo.study.events import read_events
from aegisbo.study.history import optimizer_after
from aegisbo.study.shared import Shared
from aegisbo.study.study import settings_of


def work(
    fun: Callable[..., Any],
    study: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    observed: Any = None,
    **given: Any,
) -> Found[Optimizer]:
    """Evaluate trials of a study that other copies share, until its budget is spent.

    Args:
        fun: the function, or a `Command`.
        study: the file; the first copy makes it.
        settings: of a new study, or the same as those of the study; None if it exists.
        observed: earlier results, as for `minimize`; what another copy has added already is not added again.
        given: options of `Options`. The budget is that of all copies together, None for what the study says; the
            workers, the timeout and what is given up after are those of this copy.

    Returns:
        The result of the whole study when this copy ended.

    Raises:
        InvalidInput: an argument cannot be used.
        StudyError: the study holds another run, is driven by `minimize`, or cannot be written.
    """
    check_file(study)
    options = Options.checked(**OF_A_COPY | given)
    place = ("processes", options.workers, options.threads_per_worker, options.worker_env)
    if settings is not None:
        check_call(fun, settings.space, *place)
    elsewhere = _elsewhere(observed, settings, fun, study)
    call = {**options.describe(), **recipe(fun)}
    with ExitStack() as stack:
        shared = stack.enter_context(
            Shared.open(
                study,
                settings,
                logger.warning,
                objective=objective_of(fun),
                call=call,
                anyway=options.anyway,
                lease=options.lease,
                retries=options.retries,
            )
        )
        optimizer, copy = shared.optimizer, _Copy(shared)
        check_call(fun, optimizer.space, *place)
        warn_if_unused(fun, optimizer.space.parameters)
        shared.learn(elsewhere.earlier)
        pool = make_pool(
            "processes",
            Call(reading(fun, optimizer.settings), optimizer.space.named),
            options.workers,
            copy,
            judge=partial(judged, needed=names_of(optimizer.settings.limits)),
            threads_per_worker=options.threads_per_worker,
            worker_env=options.worker_env,
        )
        stack.callback(leave_nothing, fun)
        stack.callback(pool.close)
        tell = stack.enter_context(progress_of(optimizer, pool, shared.budget, options.progress, study))
        options = with_changes(replace(options, budget=shared.budget), shared.changed, study)
        watch = Watch(optimizer, (), options, tell, study)
        heed = Steering(shared.requests, optimizer, pool, watch, options)
        stack.enter_context(EndAtOnce(shared.hurry))
        record = run(
            copy,
            pool,
            sys.maxsize,
            options=options,
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
