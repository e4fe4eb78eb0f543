"""Progress of a run: a live line on a terminal or in a notebook, and lines in a log.

- `standing` counts what is running, ended and failed, and knows the best value and the time left.
- `terminal` and `notebook` show it while it changes; `log_lines` are for files, and for warnings anywhere.
"""

from __future__ import annotations

import logging
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic

from aegisbo.address import Place
from aegisbo.optimizer import Core, Trial
from aegisbo.outcome import FAILURES
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.progress.log_lines import PAUSE, beginning, first_failure, logger
from aegisbo.runners.progress.notebook import in_notebook, notebook_line
from aegisbo.runners.progress.standing import Standing, Tally, line
from aegisbo.runners.protocol import Finished

Say = Callable[[str], None]


@contextmanager
def progress_of(optimizer: Core, pool: Pool, budget: int, wanted: bool | None, study: Place | None) -> Iterator[Teller]:
    """Show the progress of a run; by default (`wanted` is None) only on a terminal or in a notebook.

    Call what it yields with each job that has ended, after the optimizer has taken it in.
    """
    tally = Tally(optimizer, pool, budget)
    live = None if wanted is False else _live_line(tally.standing)
    # Without a live line, a user who asked for progress gets the lines of the log, however logging is configured.
    plain = bool(wanted) and live is None and not logger.isEnabledFor(logging.INFO)
    say = _write if plain else logger.info
    echo = None if wanted is False or pool.prints_here else say if live is None else _write
    say(beginning(optimizer, pool, budget, study))
    if optimizer.trials:
        done = tally.standing().ended
        (say if live is None else _write)(f"Continuing {study}: {done} of {budget} evaluations done.")
    with live or nullcontext():
        yield Teller(optimizer, tally, say, echo, study)
        tally.update()
    say(line(tally.standing()))


@dataclass
class Teller:
    """Reports ended jobs to the live line and the log, and their output to the terminal."""

    optimizer: Core
    tally: Tally
    say: Say
    echo: Say | None
    study: Place | None
    warned: bool = False
    said: float = field(default_factory=monotonic)  # when it last logged the state of the run

    def __call__(self, job: Finished) -> None:
        trial = self.optimizer.trial(job.number)
        reason = _reason(trial, job)
        self.tally.update(reason and f"trial {job.number}: {reason}")
        if self.echo is not None:
            for printed in job.outcome.output.splitlines():
                self.echo(f"[trial {job.number}] {printed}")
        if reason and not self.warned and not job.outcome.unusable:  # the end of the run reports that
            self.warned = True
            logger.warning(first_failure(trial, reason, self.study))
        if monotonic() - self.said >= PAUSE:
            self.said = monotonic()
            self.say(line(self.tally.standing()))


def _reason(trial: Trial, job: Finished) -> str:
    """Why there is no value; empty if there is one."""
    if trial.state in FAILURES:
        return trial.reason or trial.state
    return job.outcome.reason if job.outcome.state == "lost" else ""


def _live_line(look: Callable[[], Standing]) -> AbstractContextManager[None] | None:
    """The live line; None if the output cannot show one."""
    if in_notebook():
        return notebook_line(look)
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        return None
    before = random.getstate()  # rich draws from Python's global random numbers when it is imported
    from aegisbo.runners.progress.terminal import terminal_line

    random.setstate(before)
    return terminal_line(look)


def _write(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 - where progress is wanted
