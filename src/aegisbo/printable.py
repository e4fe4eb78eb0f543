"""Texts made safe and short for a terminal, and counts and times in words."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """The text with a mark for each control character, since it may come from a stranger."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def brief(text: str, longest: int = 100) -> str:
    """The beginning of a possibly long text, for a message that names it."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def so_many(count: int, what: str) -> str:
    """A number and what it counts, in the plural unless it is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def duration(seconds: float) -> str:
    """Two units at most: 0.25 s, 12 s, 4 min 5 s, 1 h 12 min, 2 d 3 h."""
    if seconds < 60:
        return f"{seconds:.2g} s"
    units = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    left, parts = round(seconds), list[str]()
    for unit, size in units.items():
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def in_a_row(numbers: Sequence[int | str], most: int = 5) -> str:
    """The first few numbers or texts, and how many more there are."""
    more = len(numbers) - most
    return ", ".join(map(str, numbers[:most])) + (f" and {more} more" if more > 0 else "")
