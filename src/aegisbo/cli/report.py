"""`aegisbo report`: a study as one page that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aegisbo.cli.arguments import StudyFile
from aegisbo.cli.writing import require_writable, write_whole
from aegisbo.errors import InvalidInput


def report(
    study: StudyFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to; beside the study, with the end .html, unless given."
        ),
    ] = None,
) -> None:
    """Write what happened in a study, and why, into one page that opens without a network."""
    from aegisbo.report.html import is_report
    from aegisbo.report.html import report as page_of
    from aegisbo.report.record import Record

    record = Record.of_study(study)
    file = study.with_suffix(".html") if output is None else output
    require_writable(file)
    if file.is_file() and file.stat().st_size and not is_report(file):
        raise InvalidInput(f"{file} is no report that aegisbo has written: delete it, or name another file with -o.")
    page = page_of(record)
    write_whole(file, page)
    typer.echo(f"{file} ({len(page.encode()) / 1e3:.0f} kB): open it in a browser.")
