"""`aegisbo show`, `replay` and `export`: what a study file holds."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from aegisbo.cli.minimize import in_short
from aegisbo.errors import InvalidInput, MissingExtra, UnknownName

if TYPE_CHECKING:
    from aegisbo.study.store import Event

UNFAITHFUL = 4  # exit code: a decision does not follow from the record

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file.")]


def show(
    study: StudyFile,
    last: Annotated[int, typer.Option(min=0, metavar="N", help="How many of the last trials to list.")] = 20,
) -> None:
    """Show the best point, what is running, what failed, and how idle the workers were."""
    from aegisbo.cli.tables import plain_table
    from aegisbo.study import load
    from aegisbo.study.export import rows
    from aegisbo.study.store import read_events

    result, table = load(study), rows(study)
    console = Console(highlight=False)
    states = Counter(row["state"] for row in table)
    console.print(f"{result.message}")
    console.print(f"{len(table)} trials: " + (", ".join(f"{n} {state}" for state, n in states.items()) or "none yet"))
    if result.best is not None:
        best = result.best
        where = f"in trial {best.number}" if best.number >= 0 else "observed elsewhere"
        console.print(f"best {result.fun:.8g} {where}: {in_short(best.params)}", style="bold")
    for line in idle_lines(read_events(study)):
        console.print(line)
    listing: Table = plain_table(["trial", "state", "value", "seconds", "move", "parameters"])
    for row in table[max(len(table) - last, 0) :]:
        seconds = "" if row["seconds"] is None else f"{row['seconds']:.3g}"
        value = escape(str(row["reason"])) if row["value"] is None else f"{row['value']:.6g}"
        listing.add_row(str(row["number"]), row["state"], value, seconds, str(row["move"]), escape(_params(row)))
    console.print(listing)


def idle_lines(events: Iterable[Event]) -> list[str]:
    """How the workers of all drivers so far spent their time."""
    workers = [worker for event in events if event.kind == "closed" for worker in event.body["idle"]]
    total = sum(sum(worker.values()) for worker in workers)
    if not total:
        return []
    words = {
        "busy": "evaluating",
        "suggestion": "waiting for a suggestion",
        "pool": "waiting for the pool",
        "nothing": "with nothing left to do",
    }
    shares = {cause: sum(worker[cause] for worker in workers) / total for cause in words}
    return ["workers: " + ", ".join(f"{shares[cause]:.1%} {text}" for cause, text in words.items())]


def replay(study: StudyFile) -> None:
    """Make every decision of a run again and check that it follows from what was known then."""
    from aegisbo.study.replay import replay as run

    console = Console(highlight=False, soft_wrap=True)
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


def export(
    study: StudyFile,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="`csv`, `json` or `optuna`.")] = "csv",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to; standard output unless given.")
    ] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Optuna's storage, such as `sqlite:///o.db`, or a journal file.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of the Optuna study; the file's unless given.")] = None,
) -> None:
    """Write the trials of a study as a table, or into an Optuna storage."""
    if to not in ("csv", "json", "optuna"):
        raise UnknownName("export format", to, ("csv", "json", "optuna"))
    if (to == "optuna") != (storage is not None):
        raise InvalidInput("--to optuna and --storage go together: name the storage that the trials go to.")
    if storage is not None:
        _to_optuna(study, storage, name)
        return
    from aegisbo.study.export import write

    if output is None:
        write(study, to, sys.stdout)
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            write(study, to, file)
    except OSError as error:
        raise InvalidInput(f"{output} cannot be written: {error.strerror}.") from error


def _to_optuna(study: Path, storage: str, name: str | None) -> None:
    try:
        from aegisbo.integrations.optuna_export import export as to_optuna
    except ModuleNotFoundError as error:
        raise MissingExtra("An export to Optuna", "optuna") from error
    exported = to_optuna(study, storage, name)
    typer.echo(f"{len(exported.trials)} trials are in study {exported.study_name!r} of {storage}.")


def _params(row: dict[str, Any]) -> str:
    prefix = "param_"
    return in_short({key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)})
