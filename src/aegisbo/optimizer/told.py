"""What a user tells of an evaluation: a value, how sure it is, what else was measured, and how long it took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import as_number
from aegisbo.outcome import SD, Outcome, is_sd, judged


def outcome_told(value: object, sd: object = None, measured: object = None, needed: Iterable[str] = ()) -> Outcome:
    """How a trial ends whose value is this, give or take a standard deviation; what is needed must be measured."""
    if as_number(value) is None:
        raise InvalidInput(f"The value of a trial must be a number, got {value!r}: use float(...), or call fail.")
    given = {**_checked_measured(measured), **({} if sd is None else {SD: sd})}
    if SD in given and not is_sd(given[SD]):
        raise InvalidInput(f"sd is {given[SD]!r}: give the standard deviation of the value, 0 or more, or None.")
    return judged((value, given), needed)


def checked_seconds(seconds: object, name: str) -> float | None:
    """A time, if there is one."""
    number = as_number(seconds)
    if seconds is not None and (number is None or not 0.0 <= number < math.inf):
        raise InvalidInput(f"{name} is {seconds!r}: give a number of seconds, 0 or more, or None.")
    return number


def _checked_measured(measured: object) -> dict[str, Any]:
    """What was measured, by name, as a user tells it."""
    if measured is None:
        return {}
    if not isinstance(measured, Mapping) or not all(isinstance(name, str) for name in measured):
        raise InvalidInput(f"measured is {measured!r}: give numbers by name, such as {{'latency': 3.2}}.")
    for name, value in measured.items():
        if as_number(value) is None:
            raise InvalidInput(f"measured has {name} = {value!r}: give a number.")
    return dict(measured)
