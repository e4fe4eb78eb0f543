"""Texts made safe and short for a terminal, and counts in words."""

from __future__ import annotations


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
