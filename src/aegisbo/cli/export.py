"""`aegisbo export`: the trials of a study for other programs."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from aegisbo.address import Place
from aegisbo.cli.arguments import Study
from aegisbo.cli.writing import require_writable, write_whole
from aegisbo.errors import InvalidInput, MissingExtra, UnknownName


def export(
    study: Study,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="`csv`, `json` or `optuna`.")] = "csv",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to this file (default: standard output)."),
    ] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Optuna's storage, such as `sqlite:///o.db`, or a journal file.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the Optuna study (default: the file's).")] = None,
) -> None:
    """Write the trials as a table, or into an Optuna storage."""
    if to not in ("csv", "json", "optuna"):
        raise UnknownName("export format", to, ("csv", "json", "optuna"))
    if (to == "optuna") != (storage is not None):
        raise InvalidInput("--to optuna and --storage go together: name the storage that the trials go to.")
    if storage is not None:
        _to_optuna(study, storage, name)
        return
    from aegisbo.printable import printable
    from aegisbo.study.export import write

    if output is not None:
        require_writable(output)
    table = StringIO()
    write(study, to, table)
    if output is not None:
        write_whole(output, table.getvalue())
    else:  # files and programs get the text unchanged; a terminal would obey control codes in it
        sys.stdout.write(printable(table.getvalue()) if sys.stdout.isatty() else table.getvalue())


def _to_optuna(study: Place, storage: str, name: str | None) -> None:
    try:
        from aegisbo.integrations.optuna_export import export as to_optuna
    except ModuleNotFoundError as error:
        raise MissingExtra("An export to Optuna", "optuna") from error
    exported = to_optuna(study, storage, name)
    typer.echo(f"{len(exported.trials)} trials are in study {exported.study_name!r} of {storage}.")
