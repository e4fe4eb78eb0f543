"""Texts that a reader is shown: such as a terminal does not obey, whoever wrote them, and counts."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text in its lines, with a mark for each character that a terminal would obey: it may be a stranger's."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def so_many(count: int, what: str) -> str:
    """A number and what it counts, in the plural unless it is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
