"""Limits on what an evaluation measures besides its value: how the user writes them, and which ones trials break."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import number_in
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import SD

LIMIT = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|<|>)\s*(\S+)\s*")


@dataclass(frozen=True)
class Limit:
    """A bound on a measured quantity, such as latency <= 5."""

    text: str
    name: str = field(compare=False)
    symbol: str = field(compare=False)
    bound: float = field(compare=False)

    def excess(self, value: float) -> float:
        """By how much a value exceeds the limit: above 0 if it breaks it."""
        beyond = value - self.bound if self.symbol[0] == "<" else self.bound - value
        beyond = min(max(beyond, -sys.float_info.max), sys.float_info.max)
        return math.ulp(self.bound) if beyond == 0.0 and len(self.symbol) == 1 else beyond  # the bound itself is beyond

    def at(self, beyond: float) -> float:
        """The value that exceeds the limit by this much."""
        return self.bound + beyond if self.symbol[0] == "<" else self.bound - beyond


def limits_of(given: Iterable[str | Limit], parameters: Iterable[str]) -> tuple[Limit, ...]:
    """Read limits from texts.

    Raises:
        InvalidInput: one cannot be read, or its name is that of a parameter.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"limits must be a list, such as ['latency <= 5'], got {given!r}.")
    limits = tuple(dict.fromkeys(_limit(each) for each in given))
    for limit in limits:
        if limit.name == SD:
            raise InvalidInput(f"The limit {limit.text!r} is on the standard deviation of the value: use another name.")
        if limit.name in parameters:
            raise InvalidInput(
                f"The limit {limit.text!r} is on a parameter: limits are on what is measured; for parameters there are "
                f"constraints=[{limit.text!r}]."
            )
    return limits


def _limit(given: Any) -> Limit:
    if isinstance(given, Limit):
        return given
    found = LIMIT.fullmatch(given) if isinstance(given, str) else None
    bound = None if found is None else number_in(found[3])
    if found is None or bound is None or not math.isfinite(bound):
        raise InvalidInput(f"The limit {given!r} cannot be read: write one name and one number, as in 'latency <= 5'.")
    shown = f"{bound:g}" if float(f"{bound:g}") == bound else repr(bound)  # a study reads it again
    return Limit(f"{found[1]} {found[2]} {shown}", found[1], found[2], bound)


def names_of(limits: Sequence[Limit]) -> tuple[str, ...]:
    """The quantities that must be measured."""
    return tuple(dict.fromkeys(limit.name for limit in limits))


def broken_by(trial: Trial, limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """The limits that a trial with a value breaks."""
    return tuple(limit for limit in limits if trial.state == "done" and limit.excess(trial.measured[limit.name]) > 0.0)
