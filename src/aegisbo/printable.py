"""Texts that a reader is shown: such as a terminal does not obey, whoever wrote them, and counts."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text in its lines, with a mark for each character that a terminal would obey: it may be a stranger's."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def brief(text: str, longest: int = 100) -> str:
    """The beginning of a text that may be a long one, for a message that names it."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def so_many(count: int, what: str) -> str:
    """A number and what it counts, in the plural unless it is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
