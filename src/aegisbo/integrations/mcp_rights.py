"""What an adviser may change in a study: nothing but what the user allowed in words such as "add,budget=100-400"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import UNSIGNED, as_number
from aegisbo.options import CHANGEABLE, TEXTS
from aegisbo.printable import brief

DEEDS = ("add", "retry", "forget")
NUMBERS = tuple(name for name in CHANGEABLE if name not in TEXTS)  # options that have a range
RANGE = re.compile(rf"(-?{UNSIGNED})-(-?{UNSIGNED})")


@dataclass(frozen=True)
class Rights:
    """What an adviser may do besides looking."""

    deeds: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of the options that it may set

    @classmethod
    def of(cls, words: Iterable[str]) -> Rights:
        """The rights in these words: "add", "retry", "forget", and options with the range in which they may be set.

        Raises:
            InvalidInput: a word is none of these.
        """
        deeds, ranges = set[str](), dict[str, tuple[float, float]]()
        for word in words:
            name, equals, told = word.strip().partition("=")
            if name not in (*DEEDS, *NUMBERS):
                raise UnknownName("right", name, (*DEEDS, *NUMBERS))
            if name in DEEDS and not equals:
                deeds.add(name)
                continue
            match = RANGE.fullmatch(told) if name in NUMBERS else None
            if match is None or float(match[1]) > float(match[2]):
                raise InvalidInput(f"The right {brief(word)!r} cannot be read: write {_form(name)}.")
            ranges[name] = float(match[1]), float(match[2])
        return cls(frozenset(deeds), ranges)

    @property
    def texts(self) -> list[str]:
        """The rights in words."""
        return [*sorted(self.deeds), *(f"{name} from {low:g} to {high:g}" for name, (low, high) in self.ranges.items())]

    def require_in_range(self, name: str, value: Any) -> None:
        """Refuse an option that may not be set, or not to this value."""
        if name not in self.ranges:
            allowed = f"it may set {', '.join(self.ranges)}" if self.ranges else "it may set nothing"
            raise InvalidInput(f"An adviser here may not set {brief(repr(name))}: {allowed}.")
        (low, high), number = self.ranges[name], as_number(value)
        if number is None or not low <= number <= high:
            raise InvalidInput(f"{name} is {brief(repr(value))}: an adviser may set it from {low:g} to {high:g}.")


def _form(name: str) -> str:
    return f"{name} alone" if name in DEEDS else f"a range, such as {name}=10-100"
