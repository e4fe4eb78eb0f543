"""`aegisbo problems`: the benchmark problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape


def problems() -> None:
    """List the benchmark problems."""
    from aegisbo.cli.tables import plain_table
    from aegisbo.problems import get, names

    table = plain_table(["name", "d", "minimum", "box"])
    for problem in map(get, names()):
        minimum = "unknown" if problem.minimum is None else f"{problem.minimum:.6g}"
        table.add_row(problem.name, str(problem.d), minimum, escape(box(problem.bounds)))
    Console(highlight=False).print(table)


def box(bounds: Sequence[tuple[float, float]]) -> str:
    """The box in short: equal sides in a row become a power."""
    sides = ((f"[{low:g}, {high:g}]", len(list(equal))) for (low, high), equal in groupby(bounds))
    return " × ".join(side if count == 1 else f"{side}^{count}" for side, count in sides)
