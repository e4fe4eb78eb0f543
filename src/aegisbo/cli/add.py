"""`aegisbo add`: a point that must be tried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aegisbo.cli.assignments import assigned
from aegisbo.cli.study_file import StudyFile

EXAMPLES = "Example: `aegisbo add run.db lr=1e-3 units=64 act=relu`"


def add(
    study: StudyFile,
    values: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE...", help="The point: a value for each parameter.")
    ],
) -> None:
    """Let a point be tried that you have in mind, before the strategy chooses another one.

    A run that is at work takes it as soon as a worker is free, within a second or so. It counts towards the budget.
    """
    from aegisbo.optimizer.trial import in_short
    from aegisbo.space.text import values_from
    from aegisbo.study import add as run
    from aegisbo.study.agreement import settings_of
    from aegisbo.study.reading import read_events

    space = settings_of(read_events(study)).space
    params = run(study, values_from(space, assigned(values, "The value")))
    typer.echo(f"Added: {in_short(params)}. {_next(study)}")


def _next(study: Path) -> str:
    """When it will be tried."""
    from aegisbo.study.lock import is_driven
    from aegisbo.study.reading import read_events
    from aegisbo.study.state import State

    state = State.after(read_events(study))
    waiting, ledger = len(state.optimizer.waiting), state.ledger
    queue = "It is next" if waiting < 2 else f"{waiting} points wait, this one is the last of them"
    driven = "." if is_driven(study) else "; nobody is at work: make the same call again to go on."
    budget = ledger.budget
    if budget is None or len(ledger.ended) + len(ledger.holders) + waiting <= budget:
        return queue + driven
    room = f"The budget of {budget} has no room for it: give a larger one (`aegisbo set {study} budget=N`)."
    return f"{queue}{driven} {room}"
