"""Several numbers in one argument: `3`, `3-17` or `3,5,8-10`."""

from __future__ import annotations

import re

from aegisbo.errors import InvalidInput


def numbers_in(text: str, name: str) -> list[int]:
    """The numbers that a text stands for.

    Args:
        text: as the user typed it.
        name: what the user calls it, for the message of a refusal.

    Raises:
        InvalidInput: a part is no number and no range, or a range runs the wrong way round.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)  # more would not fit into memory
        if match is None:
            raise InvalidInput(f"{name} {text!r} cannot be read at {part!r}: write it like 1-51 or 1,4,7-9.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            raise InvalidInput(f"{name} {text!r} runs backwards at {part!r}: write {last}-{first}.")
        numbers.extend(range(first, last + 1))
    return numbers


def as_ranges(numbers: list[int]) -> str:
    """Numbers as a user writes them: 3, 5, 8-10."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)
