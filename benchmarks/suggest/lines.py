"""Lines of numbers with their targets, and tables by dimension and number of evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One number, and what it should be."""

    what: str
    measured: float
    target: str = ""


def print_lines(title: str, lines: Iterable[Line]) -> None:
    print(f"\n{title}")
    for line in lines:
        target = f"   target {line.target}" if line.target else ""
        print(f"  {line.what:56}{line.measured:11.4g}{target}", flush=True)


def print_table(title: str, rows: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
    """Each row is (d, n, numbers by column)."""
    print(f"\n{title}")
    header = ""
    for d, n, numbers in rows:
        if not header:
            header = "  d     n" + "".join(f"{column:>14}" for column in numbers)
            print(header)
        print(f"{d:3} {n:5}" + "".join(f"{number:14.2f}" for number in numbers.values()))
