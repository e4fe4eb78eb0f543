"""What a run writes to the log `aegisbo`: its beginning, a line now and then, its first failure, its end.

Nothing here sets a level or installs a handler: without any configuration Python shows warnings on standard error.
"""

from __future__ import annotations

import logging
from shlex import quote

from aegisbo.address import Place
from aegisbo.optimizer import Core, Trial
from aegisbo.optimizer.failure_reasons import cut
from aegisbo.optimizer.trial import in_short
from aegisbo.printable import so_many
from aegisbo.runners.pools.base import Pool

logger = logging.getLogger("aegisbo")

PAUSE = 10.0  # least seconds between two lines
WIDTH = 500  # characters of a reason or of the parameters


def beginning(optimizer: Core, pool: Pool, budget: int, study: Place | None) -> str:
    """The first line: what is about to run."""
    settings = optimizer.settings
    what = "Maximizing" if settings.maximize else "Minimizing"
    if settings.objectives:
        what = f"Optimizing {', '.join(each.text for each in settings.objectives)}"
    strategy = settings.text or repr(settings.strategy)
    parameters, workers = so_many(len(settings.space.parameters), "parameter"), so_many(pool.capacity, "worker")
    return (
        f"{what} over {parameters} with {workers} ({pool.name.lower()}): "
        f"budget {budget}, strategy {strategy}, seed {optimizer.seed}, study {study or 'none'}."
    )


def first_failure(trial: Trial, reason: str, study: Place | None) -> str:
    """A description of the first failed evaluation; the others are only counted."""
    what = "lost its worker" if trial.state == "pending" else "gave no value"
    more = " (result.failures)"
    if study:
        more = f"; `aegisbo show {quote(str(study))} --trial {trial.number}` shows details"
    elif trial.traceback:
        more += f"; result.trials[{trial.number}].traceback shows details"
    values = cut(in_short(trial.params), WIDTH)
    return (
        f"Trial {trial.number} {what}: {cut(reason, WIDTH).rstrip('.')}. Its parameters: {values}. "
        f"Further failures are only counted{more}."
    )
