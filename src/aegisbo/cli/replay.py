"""`aegisbo replay`: whether every decision of a run follows from what was known then."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from aegisbo.cli.arguments import Study
from aegisbo.cli.tables import Terminal

UNFAITHFUL = 4  # exit code: a decision does not follow from the record


def replay(study: Study) -> None:
    """Repeat every decision of a run and compare."""
    from rich.progress import Progress

    from aegisbo.study.replay import replay as run

    console = Terminal(soft_wrap=True)
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("replaying", total=None)
        found = run(study, lambda done, total: progress.update(task, completed=done, total=total))
    if found.faithful:
        console.print(f"All {found.decisions} decisions follow from what was known when they were made.")
        return
    first = found.differences[0]
    console.print(f"{len(found.differences)} of {found.decisions} decisions came out differently.")
    console.print(
        f"The first is trial {first.number}: {dict(first.recorded)} recorded, {dict(first.replayed)} replayed."
    )
    if found.rebuilt:
        changes = "; ".join(f"{key} was {then}, is {now}" for key, (then, now) in found.rebuilt.items())
        console.print(f"The run was made elsewhere, where digits may differ ({changes}).")
        console.print(f"Largest distance in the unit cube: {found.largest_distance:.3g}.")
        return
    raise typer.Exit(UNFAITHFUL)
