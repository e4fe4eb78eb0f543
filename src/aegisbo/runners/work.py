"""`work`: one of many copies that share a study. Any of them can be killed, and there is no central process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from aegisbo.address import Named, place_of
from aegisbo.optimizer import Core, Found, Settings
from aegisbo.optimizer.settings import check_target
from aegisbo.options import OF_A_COPY, Options
from aegisbo.runners.arguments import check_call, check_file
from aegisbo.runners.drive import drive, found_by
from aegisbo.runners.interrupt import end_at_once
from aegisbo.runners.observed import Lists, observed_elsewhere
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.recipe import objective_of, recipe
from aegisbo.runners.steering import with_changes
from aegisbo.runners.watch import Judge, never
from aegisbo.study.agreement import settings_of
from aegisbo.study.reading import read_events
from aegisbo.study.shared import Shared


def work(
    fun: Callable[..., Any],
    study: Named,
    settings: Settings | None = None,
    *,
    observed: Any = None,
    judge: Judge = never,
    **given: Any,
) -> Found[Core]:
    """Evaluate trials of a study that several copies share, until its budget is spent.

    Args:
        fun: the function, or a `Command`.
        study: the file or the address; the first copy creates it.
        settings: those of a new study, or those that the study has; None if the study exists.
        observed: earlier results, as for `minimize`; results that another copy has added are not added again.
        judge: says whether `stop_when` ends the run.
        given: fields of `Options`. The budget is for all copies together; None takes that of the study. `workers`,
            `timeout` and `give_up_after` are for this copy.

    Returns:
        The result of the whole study at the end of this copy.

    Raises:
        InvalidInput: an argument is not valid.
        StudyError: the study belongs to another run, is driven by `minimize`, or cannot be written.
    """
    check_file(study)
    options = Options.checked(**OF_A_COPY | given)
    place = ("processes", options.workers, options.threads_per_worker, options.worker_env)
    if settings is not None:
        check_target(options.target, settings)
        check_call(fun, settings.space, *place)
    earlier: Lists = []
    if observed is not None:
        _, earlier = observed_elsewhere(observed, settings or settings_of(read_events(place_of(study))), fun, study)
    call = {**options.describe(), **recipe(fun)}
    with Shared.open(
        study,
        settings,
        say=logger.warning,
        objective=objective_of(fun),
        call=call,
        anyway=options.anyway,
        lease=options.lease,
        retries=options.retries,
    ) as shared:
        check_target(options.target, shared.optimizer.settings)
        check_call(fun, shared.optimizer.space, *place)
        shared.learn(earlier)
        options = with_changes(replace(options, budget=shared.budget), shared.changed, shared.path)
        # If the file was moved away, this copy no longer shares it; else the study counts evaluations.
        signals = end_at_once(shared.hurry)
        record = drive(shared, fun, options, sys.maxsize, signals, lambda: not shared.moved, judge=judge)
    return found_by(shared, record)
