"""Trials in a terminal, one per line; parameters that do not fit go into further tables below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from aegisbo.cli.tables import plain_table
from aegisbo.number import number_in
from aegisbo.optimizer.failure_reasons import essence
from aegisbo.optimizer.trial import USER
from aegisbo.printable import printable
from aegisbo.study.export import MEASURED, all_names

PREFIXES = ("param_", "measured_")
CHOICE = 16  # cells for a value that is a text
BROKEN = 8  # cells for what a point breaks, if there is no room for more
REASON = 40  # most cells for the reason why there is no value
READABLE = 10  # fewest cells for it; with less room it is left out
GAP = 2  # cells between two columns
ABSENT = "-"  # for an inactive parameter

# Of the table in `aegisbo.study.export`, and under "breaks" the limits and constraints that it breaks, under "why" the
# number of the reason why there is no value.
Row = dict[str, Any]
Column = tuple[str, list[str]]  # a heading and the cells below it


def trial_tables(rows: Sequence[Row], width: int, reasons: bool = False, objectives: Sequence[str] = ()) -> list[Table]:
    """Lines of tables at most `width` cells wide, one line per row.

    Every parameter has a column; those that do not fit into the first table go into further ones. If a trial has no
    value, the reason appears where there is room, or as a number if `reasons` are listed elsewhere. What points break
    has a column if any point breaks something. Several objectives are the first of what was measured, and in place of
    the value it says which trials are on the front.
    """
    named = [f"{MEASURED}{name}" for name in objectives]
    for broken in (CHOICE, BROKEN, CHOICE):  # short only if that leaves room for all parameters
        first, *others = _parts(_fixed(rows, broken, reasons, bool(objectives)), rows, width, named)
        if not others:
            break
    if not reasons:
        place = [heading for heading, _ in first].index("front" if objectives else "value")
        room = width - _width([*first[:place], *first[place + 1 :]]) - GAP
        first[place] = first[place][0], [_value(row, room) for row in rows]
    return [_table(columns) for columns in (first, *others)]


def _table(columns: Sequence[Column]) -> Table:
    table = plain_table([])
    for heading, cells in columns:
        right = heading in ("trial", "seconds") or all(cell == ABSENT or number_in(cell) is not None for cell in cells)
        table.add_column(Text(heading), justify="right" if right else "left", no_wrap=True)
    for line in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*map(Text, line))
    return table


def _fixed(rows: Sequence[Row], broken: int, reasons: bool, several: bool) -> list[Column]:
    """The columns of every table, including what points break, if any do, in this many cells."""
    breaking = any(row.get("breaks") for row in rows)
    found = "front" if several else "value"
    return [
        ("trial", [str(row["number"]) for row in rows]),
        ("state", [str(row["state"]) for row in rows]),
        ("reason", [str(row["why"]) for row in rows]) if reasons else (found, [_value(row, 0) for row in rows]),
        ("seconds", ["" if row["seconds"] is None else f"{row['seconds']:.3g}" for row in rows]),
        ("move", [_move(row) for row in rows]),
        *([("breaks", [cut(row["breaks"], broken) for row in rows])] if breaking else []),
    ]


def _move(row: Row) -> str:
    """The move, and who added the point if that was not the user."""
    author = row.get("author", USER)
    return printable(str(row["move"])) if author == USER else f"{row['move']} by {cut(author, CHOICE)}"


def cut(text: str, cells: int) -> str:
    """The text on one line, cut to this many cells with a mark."""
    line = printable(" ".join(text.split()))
    return line if cell_len(line) <= cells else set_cell_size(line, max(cells - 1, 0)).rstrip() + "…"


def _parts(fixed: Sequence[Column], rows: Sequence[Row], width: int, early: Sequence[str]) -> list[list[Column]]:
    """The columns of each table: all in one, with names on one line or on two, else as many as fit into each."""
    others = [key for key in all_names(rows) if key.startswith(PREFIXES) and key not in early]
    keys = [*(key for key in early if any(key in row for row in rows)), *others]
    names = [printable(" ".join(key.partition("_")[2].split())) for key in keys]
    cells = [[_cell(row[key]) if key in row else ABSENT for row in rows] for key in keys]
    folded = [_folded(name) for name in names]
    for headings in (names, folded):
        columns = [*fixed, *zip(headings, cells, strict=True)]
        if _width(columns) <= width:
            return [columns]
    parts = [list(fixed)]
    for column in zip(folded, cells, strict=True):
        if _width([*parts[-1], column]) > width:
            parts.append([fixed[0], fixed[2]])  # which trial, and its value
        parts[-1].append(column)
    return parts


def _width(columns: Sequence[Column]) -> int:
    return sum(max(map(cell_len, [*heading.split("\n"), *cells])) + GAP for heading, cells in columns) - GAP


def _value(row: Row, cells: int) -> str:
    """The value, or that it is on the front, or the reason why there is none if it fits into this many cells."""
    if row.get("front"):
        return "yes"
    if row["value"] is not None:
        return f"{row['value']:.6g}"
    return cut(essence(row["reason"] or ""), min(cells, REASON)) if cells >= READABLE else ""


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else cut(str(value), CHOICE)


def _folded(name: str) -> str:
    """A name on two lines, split at the underscore that makes them shortest."""
    words = name.split("_")
    ways = ("_".join(words[:k]) + "_\n" + "_".join(words[k:]) for k in range(1, len(words)))
    return min([name, *ways], key=lambda way: max(map(cell_len, way.split("\n"))))
