"""Colors and marks: each move has both, so that no meaning depends on color alone.

The colors also differ for color-blind readers, and contrast with white by at least 3:1.
"""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """How a kind of point looks."""

    color: str
    marker: str


MOVES = {  # shapes and colors are those of the report's page
    "observed": Mark("#222222", "|"),
    "initial": Mark("#7b7b7b", "o"),
    "added": Mark("#be185d", "*"),
    "exploit": Mark("#0b3c8c", "s"),
    "improve": Mark("#c45be0", "P"),
    "local": Mark("#5b0a3c", "v"),
    "thompson": Mark("#a8380b", "^"),
    "pareto": Mark("#179e50", "D"),
    "elsewhere": Mark("#179e50", "<"),
    "feasible": Mark("#5b0a3c", ">"),
    "repeat": Mark("#a8380b", "p"),
    "uniform": Mark("#854d0e", "h"),
    "random": Mark("#854d0e", "h"),
}
OTHERS = (Mark("#0b3c8c", "H"), Mark("#179e50", "X"), Mark("#c45be0", "d"), Mark("#854d0e", "8"))
STATES = {
    "done": Mark("#0b3c8c", "o"),
    "failed": Mark("#b3261e", "X"),
    "invalid": Mark("#c45be0", "D"),
    "timed_out": Mark("#854d0e", "^"),
    "stopped": Mark("#854d0e", "|"),
    "lost": Mark("#7b7b7b", "v"),
    "interrupted": Mark("#7b7b7b", "s"),
    "running": Mark("#179e50", ">"),
}


def marks_of(moves: list[str]) -> dict[str, Mark]:
    """A mark for each move, in the order of the table; moves of other packages get those that are left."""
    unknown = sorted(set(moves) - set(MOVES))
    known = {move: mark for move, mark in MOVES.items() if move in moves}
    return known | {move: OTHERS[k % len(OTHERS)] for k, move in enumerate(unknown)}
