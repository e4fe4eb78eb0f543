"""Texts that a terminal may be shown, whoever wrote them."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text in its lines, with a mark for each character that a terminal would obey: it may be a stranger's."""
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
