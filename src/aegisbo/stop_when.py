"""By how much a result must get better to count, and the sentences of `stop_when=`, which say when a run is to end."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import UNSIGNED, as_finite
from aegisbo.printable import brief

NUMBER = rf"({UNSIGNED})\s*(%)?"
CHANCE = re.compile(rf"chance of {NUMBER} better in (?:the )?next (\d+)\s*<\s*{NUMBER}", re.IGNORECASE)
PATIENCE = re.compile(rf"no {NUMBER} better in (?:the last )?(\d+)", re.IGNORECASE)
EXAMPLES = '"chance of 1% better in the next 50 < 0.05" or "no 1% better in 30"'
MOST = 10**5  # evaluations


@dataclass(frozen=True)
class Better:
    """By how much a result must get better to count."""

    size: float
    percent: bool  # of what the run has gained; else in the units of the value

    def __str__(self) -> str:
        return f"{_spelled(self.size)}{'%' if self.percent else ''}"


@dataclass(frozen=True)
class StopWhen:
    """When a run is to end."""

    better: Better
    evaluations: int  # further ones or, with patience, the last ones
    chance: float | None  # a run ends below this chance; None for patience

    def __str__(self) -> str:
        if self.chance is None:
            return f"no {self.better} better in {self.evaluations}"
        return f"chance of {self.better} better in the next {self.evaluations} < {_spelled(self.chance)}"


def better_of(value: Any) -> Better:
    """What is meant by "1%", "0.02" or 0.02.

    Raises:
        InvalidInput: it is none of these.
    """
    number = as_finite(value, least=0.0)
    if number is not None:
        return Better(number, percent=False)
    found = re.fullmatch(NUMBER, value.strip(), re.IGNORECASE) if isinstance(value, str) else None
    if found is None:
        raise InvalidInput(
            f'better is {brief(repr(value))}: give a share of what the run has gained, such as "1%", or a number in '
            "the units of the value, such as 0.02."
        )
    return _better(*found.groups())


def stop_when_of(text: str) -> StopWhen:
    """What a sentence means.

    Raises:
        InvalidInput: it is no such sentence.
    """
    words = " ".join(text.split())
    if found := PATIENCE.fullmatch(words):
        *better, last = found.groups()
        return StopWhen(_better(*better), _evaluations(text, last), None)
    found = CHANCE.fullmatch(words)
    if found is None:
        raise InvalidInput(f"stop_when is {brief(repr(text))}: write a sentence such as {EXAMPLES}.")
    number, percent, following, *below = found.groups()
    limit = _better(*below)
    chance = limit.size / 100.0 if limit.percent else limit.size
    if not 0.0 < chance < 1.0:
        raise InvalidInput(
            f"stop_when is {brief(repr(text))}: {limit} is no chance that ends a run; give one between 0 and 1, "
            "such as 0.05 or 5%."
        )
    return StopWhen(_better(number, percent), _evaluations(text, following), chance)


def checked_stop_when(name: str, value: Any) -> str | None:
    """The sentence as it is kept; None for none. `name` is that of the option."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {brief(repr(value))}: write a sentence such as {EXAMPLES}.")
    return str(stop_when_of(value))


def _better(number: str, percent: str | None) -> Better:
    size = float(number)
    if size == math.inf:
        raise InvalidInput(f"{number} is too large: give a share such as 1%, or an amount such as 0.02.")
    return Better(size, percent == "%")


def _spelled(number: float) -> str:
    """The shortest text that is read as the same number."""
    return repr(number).removesuffix(".0")


def _evaluations(text: str, digits: str) -> int:
    count = int(digits) if len(digits) < 10 else 0
    if not 1 <= count <= MOST:
        raise InvalidInput(f"stop_when is {brief(repr(text))}: give a whole number of evaluations, from 1 to {MOST:,}.")
    return count
