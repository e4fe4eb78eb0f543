"""How tables and numbers look in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table


def plain_table(words: Sequence[str], numbers: Sequence[str] = ()) -> Table:
    """A table without a frame: columns of words, then columns of numbers."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def short(number: float) -> str:
    """Two digits, or up to four before the point: 0.0012, 3.4e-5, 1240, 1.5e5."""
    if 99.5 <= abs(number) < 1e4:
        return f"{number:.0f}"
    mantissa, e, exponent = f"{number:.2g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa
