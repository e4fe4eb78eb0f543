"""What a command prints about a run: the log while it runs, and a summary at the end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from aegisbo.address import Place
from aegisbo.cli.tables import Terminal

if TYPE_CHECKING:
    from aegisbo.optimizer import Core, Found

REASONS = 10  # most reasons for failures listed at the end
NO_VALUE = 3  # exit code: the run ended without a single value, or none that keeps all limits
INTERRUPTED = 130  # exit code: Ctrl-C ended the run, as in shells


@contextmanager
def log(wanted: bool) -> Iterator[None]:
    """Write the log of a run to standard error; a terminal shows the live line instead."""
    logger = logging.getLogger("aegisbo")
    if not wanted:
        yield
        return
    handler, level = logging.StreamHandler(), logger.level
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def report(result: Found[Core], study: Place | None, console: Terminal, raising: str = "") -> None:
    """Summarize a run; `raising` is the option, if any, that would show the first exception itself."""
    from aegisbo.optimizer.failure_reasons import failure_lines
    from aegisbo.optimizer.found import CAUSES
    from aegisbo.optimizer.trial import in_short
    from aegisbo.printable import so_many

    say = console.print
    if isinstance(study, Path) and study.resolve() != result.study:  # moved away, or the function changed the folder
        study = result.study
    failures = result.failures
    failed = sum(failures.values())
    say(result.ending)
    if result.objectives:
        say(f"front  {so_many(len(result.front), 'trial')}", style="bold")
    elif result.best is not None:
        say(f"best   {result.fun:.8g}", style="bold")
        say("       " + in_short(result.x))
    for standing in result.limits:
        say(f"limit  {standing}")
    say(f"done   {result.nfev} evaluations" + (f", {failed} of them without a value:" if failed else ""))
    for line in failure_lines(failures, REASONS):
        say(f"       {line}")
    if result.idle is not None:
        say("idle   " + ", ".join(f"{share:.1%} {CAUSES[cause]}" for cause, share in result.idle.items()))
    if study is not None:
        say(f"study  {study}")
    if failed:
        say(_after_failures(study, raising))


def _after_failures(study: Place | None, raising: str) -> str:
    """What to type next."""
    if study is None:
        first = f"{raising} shows the traceback of the first failure; " if raising else ""
        return f"next   {first}--study FILE keeps their output and tracebacks"
    name = quote(str(study))
    return (
        f"next   aegisbo show {name} --failed   list them; --trial NUMBER shows one with its traceback and output\n"
        f"       aegisbo retry {name}           evaluate them again"
    )
