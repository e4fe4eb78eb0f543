"""`work`: one of many copies that share a study; each can be killed, and no other process must live for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aegisbo.optimizer import Core, Found, Settings
from aegisbo.options import OF_A_COPY, Options
from aegisbo.runners.arguments import check_call, check_file
from aegisbo.runners.drive import drive, found_by
from aegisbo.runners.interrupt import end_at_once
from aegisbo.runners.observed import Lists, observed_elsewhere
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.recipe import objective_of, recipe
from aegisbo.runners.steering import with_changes
from aegisbo.study.agreement import settings_of
from aegisbo.study.reading import read_events
from aegisbo.study.shared import Shared


def work(
    fun: Callable[..., Any],
    study: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    observed: Any = None,
    **given: Any,
) -> Found[Core]:
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
    earlier: Lists = []
    if observed is not None:
        _, earlier = observed_elsewhere(observed, settings or settings_of(read_events(Path(study))), fun, study)
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
        check_call(fun, shared.optimizer.space, *place)
        shared.learn(earlier)
        options = with_changes(replace(options, budget=shared.budget), shared.changed, study)
        # If the file was taken away, this copy shares it with nobody; else it is the study that counts.
        record = drive(shared, fun, options, sys.maxsize, end_at_once(shared.hurry), lambda: not shared.moved)
    return found_by(shared, record)
