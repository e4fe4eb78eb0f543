"""How tables and numbers look in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


class Terminal(Console):
    """A console for untrusted text: it obeys neither markup nor control codes in it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, with a mark for each character that the terminal would obey."""
        from aegisbo.printable import printable

        super().print(*(printable(each) if isinstance(each, str) else each for each in objects), **options)


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


def local_time(at: float) -> str:
    """A moment, given in seconds since 1970, as the clock on the wall showed it."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S")
