"""`aegisbo report` and `aegisbo serve`: studies as a page, in a file or live, for this machine only."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from aegisbo.address import Address, Place
from aegisbo.cli.arguments import Study, counted, placed
from aegisbo.cli.writing import require_writable, write_whole
from aegisbo.errors import AegisError, InvalidInput, StudyError

BESIDE = "from aegisbo.review.server import beside; beside()"


def report(
    study: Study,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write to this file (default: next to the study, as .html)."
        ),
    ] = None,
) -> None:
    """Write a report of what happened and why, as one HTML page."""
    from aegisbo.review.html import is_report
    from aegisbo.review.html import report as page_of
    from aegisbo.review.record import Record

    record = Record.of_study(study)
    beside = study.beside(".html") if isinstance(study, Address) else study.with_suffix(".html")
    file = beside if output is None else output
    require_writable(file)
    if file.is_file() and file.stat().st_size and not is_report(file):
        raise InvalidInput(f"{file} is not a report that aegisbo has written: delete it, or name another file with -o.")
    page = page_of(record)
    write_whole(file, page)
    typer.echo(f"{file} ({len(page.encode()) / 1e3:.0f} kB): open it in a browser.")


def serve(
    studies: Annotated[
        list[Any],
        typer.Argument(
            parser=placed, metavar="STUDY...", help="One study or several: files, or addresses on a server."
        ),
    ],
    port: Annotated[int | None, counted("Port to listen on (default: 8700, or any free one).", 0, 65535)] = None,
) -> None:
    """Show studies as a live page that only this machine can see."""
    from aegisbo.review.server import server_of
    from aegisbo.study.file import explained
    from aegisbo.study.reading import exists

    for study in studies:
        if isinstance(study, Address):
            if not exists(study):
                raise StudyError(f"There is no study {study}: check the name.")
            continue
        with explained(study):
            if not study.is_file():
                raise StudyError(f"There is no study file {study}: check the name.")
    server = server_of(studies, port)
    typer.echo(f"{server.address} shows {', '.join(map(str, studies))}. Ctrl-C ends it.")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()


@contextmanager
def served(study: Place | None) -> Iterator[None]:
    """Serve a study, if one is named, from another process while this block runs. It may not exist yet.

    A separate process does not slow the optimizer down. It ends with this one, however that ends.
    """
    if study is None:
        yield
        return
    command = [sys.executable, "-c", BESIDE]  # others can read the words of a command: it has no address
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{study.whole if isinstance(study, Address) else study}\n")
        process.stdin.flush()
        address = process.stdout.readline().strip()
        if not address:
            raise AegisError("The live page could not be started: see above. Leave --serve out to run without it.")
        typer.echo(
            f"{address} shows the run while it lasts; afterwards `aegisbo serve {quote(str(study))}` does.", err=True
        )
        yield  # leaving the block closes its standard input and waits for it to end
