"""`aegisbo copy` and `aegisbo studies`: between files and servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from aegisbo.address import Address
from aegisbo.cli.arguments import Study, based, placed
from aegisbo.cli.tables import Terminal


def copy(
    study: Study,
    to: Annotated[Any, typer.Argument(parser=placed, metavar="TO", help="Where the copy goes: a file or an address.")],
) -> None:
    """Copy a study from a file to a server, or back.

    Every event is copied as it is. The study itself stays; a run that continues one of the two changes only that one.
    """
    from aegisbo.study.copying import copy as run

    typer.echo(f"{run(study, to)} events are in {to}.")


def studies(
    base: Annotated[
        Any, typer.Argument(parser=based, metavar="ADDRESS", help="A base, such as `postgresql://host/base`.")
    ],
) -> None:
    """List the studies on a server."""
    from rich.table import Table

    from aegisbo.study.server import names

    table = Table(box=None, pad_edge=False)
    for title in ("study", "evaluations", "best", "state"):
        table.add_column(title, justify="right" if title in ("evaluations", "best") else "left", overflow="fold")
    for name in names(base):
        table.add_row(*_row(base.named(name)))
    Terminal().print(table if table.row_count else f"There is no study in {base.named('')} yet.")


def _row(address: Address) -> Iterator[str]:
    """The name of a study, how far it is, and who works on it."""
    from aegisbo.errors import StudyError
    from aegisbo.printable import printable
    from aegisbo.review.record import Record

    yield printable(address.study)
    try:
        result = Record.of_study(address).result
    except StudyError as error:
        yield from ("", "", str(error))
        return
    yield str(result.nfev)
    if result.objectives:
        yield f"front of {len(result.front)}"
    else:
        yield "" if result.best is None else f"{result.fun:.8g}"
    yield result.ending
