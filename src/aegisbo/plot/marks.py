"""Colors and marks: each move has both, so that nothing is told by color alone.

The colors differ also for eyes that cannot tell red from green, and stand out from white by 3:1 or more.
"""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """How a kind of point looks."""

    color: str
    marker: str


MOVES = {
    "observed": Mark("#222222", "|"),
    "initial": Mark("#767676", "o"),
    "exploit": Mark("#d55e00", "v"),
    "improve": Mark("#a6611a", "^"),
    "thompson": Mark("#0072b2", "s"),
    "pareto": Mark("#00795a", "D"),
    "uniform": Mark("#aa3377", "P"),
    "random": Mark("#aa3377", "P"),
    "local": Mark("#4b2e83", "p"),
}
OTHERS = (Mark("#d55e00", "h"), Mark("#0072b2", "<"), Mark("#00795a", ">"), Mark("#aa3377", "d"), Mark("#4b2e83", "8"))
STATES = {
    "done": Mark("#0072b2", "o"),
    "failed": Mark("#b3261e", "X"),
    "invalid": Mark("#a6611a", "P"),
    "timed_out": Mark("#aa3377", "s"),
    "lost": Mark("#767676", "D"),
    "interrupted": Mark("#767676", "v"),
    "running": Mark("#00795a", ">"),
}


def marks_of(moves: list[str]) -> dict[str, Mark]:
    """A mark for each move, in the order of the table; moves of other packages get those that are left."""
    unknown = sorted(set(moves) - set(MOVES))
    known = {move: mark for move, mark in MOVES.items() if move in moves}
    return known | {move: OTHERS[k % len(OTHERS)] for k, move in enumerate(unknown)}
