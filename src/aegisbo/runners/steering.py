"""Carries out requests to a running study: points to try, and changed options such as the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aegisbo.events import Added, Changed
from aegisbo.optimizer import Core
from aegisbo.optimizer.trial import in_brief
from aegisbo.options import Options
from aegisbo.printable import printable, so_many
from aegisbo.runners.evaluation import error_text
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.watch import Watch


def with_changes(options: Options, changes: Mapping[str, Any], where: object) -> Options:
    """The options with the changes of an earlier `aegisbo set`, which the log reports."""
    news = {name: value for name, value in changes.items() if getattr(options, name) != value}
    if news:
        told = ", ".join(f"{name}={value}" for name, value in news.items())
        logger.warning(f"`aegisbo set` has changed {where}, so this run uses: {told}.")
    return replace(options, **news)


@dataclass
class Steering:
    """Reads requests, carries them out, and logs them."""

    requests: Callable[[], Iterable[Added | Changed]]  # since the last call
    optimizer: Core
    pool: Pool
    watch: Watch  # holds the current options

    def __call__(self) -> Options | None:
        """The options from now on; None if there was no request."""
        events = list(self.requests())
        for event in events:
            if isinstance(event, Added):
                self.optimizer.apply(event)
                logger.info(f"Added{_by(event)}: {in_brief(event.params)} is tried next.")
            else:
                self._change(event)
        return self.watch.options if events else None

    def _change(self, event: Changed) -> None:
        changes: Mapping[str, Any] = event.changes
        logger.info(f"Set{_by(event)}: {', '.join(f'{name}={value}' for name, value in changes.items())}.")
        if "workers" in changes:
            self._resize(changes["workers"])
        if "budget" in changes:
            self.watch.tell.tally.spend(changes["budget"])
        if "trial_timeout" in changes:
            warn_if_unstoppable(self.pool, changes["trial_timeout"])
        self.watch.change(replace(self.watch.options, **changes))

    def _resize(self, workers: int) -> None:
        try:
            self.pool.resize(workers)
        except Exception as error:  # for example, the user's worker_env has no such slot
            logger.warning(f"The run continues with {so_many(self.pool.capacity, 'worker')}: {error_text(error)}")


def _by(event: Added | Changed) -> str:
    return "" if event.author is None else f" by {printable(event.author)}"


def warn_if_unstoppable(pool: Pool, trial_timeout: float | None) -> None:
    """Say what a time limit means for workers that cannot be stopped."""
    if trial_timeout is not None and not pool.can_stop:
        logger.warning(f"{pool.name} cannot be stopped: an evaluation that takes longer than {trial_timeout:g} s "
                       f"{pool.when_late}.")  # fmt: skip
