"""What a user tells of an evaluation: a value, how sure it is, what else was measured, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import as_finite, as_number
from aegisbo.outcome import NO_SD, ONE_NUMBER, SD, Outcome, Wanted, is_sd, judged
from aegisbo.printable import brief

LONGEST_NAME = 60  # characters of the name of an author


def outcome_told(value: object, sd: object = None, measured: object = None, wanted: Wanted = ONE_NUMBER) -> Outcome:
    """How a trial ends whose value is this, give or take a standard deviation; what is wanted must be measured."""
    if wanted.objectives:
        return _several_told(value, sd, measured, wanted)
    if as_number(value) is None:
        raise InvalidInput(f"The value of a trial must be a number, got {value!r}: use float(...), or call fail.")
    given = {**_checked_measured(measured), **({} if sd is None else {SD: sd})}
    if SD in given and not is_sd(given[SD]):
        raise InvalidInput(f"sd is {given[SD]!r}: give the standard deviation of the value, 0 or more, or None.")
    return judged((value, given), wanted)


def _several_told(value: object, sd: object, measured: object, wanted: Wanted) -> Outcome:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"There are several objectives, got the value {value!r}: give {wanted.form}, or call fail.")
    if sd is not None:
        raise InvalidInput(f"sd is {sd!r}: {NO_SD}")
    return judged({**_checked_measured(value, "The value"), **_checked_measured(measured)}, wanted)


def checked_author(author: object) -> str | None:
    """The name of a person or a program, if there is one."""
    if author is None:
        return None
    if not isinstance(author, str) or not 0 < len(author.strip()) <= LONGEST_NAME or not author.isprintable():
        raise InvalidInput(
            f"author is {brief(repr(author))}: give a name of 1 to {LONGEST_NAME} printable characters, or None."
        )
    return author.strip()


def checked_seconds(seconds: object, name: str) -> float | None:
    """A time, if there is one."""
    number = as_finite(seconds, least=0.0)
    if seconds is not None and number is None:
        raise InvalidInput(f"{name} is {seconds!r}: give a number of seconds, 0 or more, or None.")
    return number


def _checked_measured(measured: object, what: str = "measured") -> dict[str, Any]:
    """What was measured, by name, as a user tells it."""
    if measured is None:
        return {}
    if not isinstance(measured, Mapping) or not all(isinstance(name, str) for name in measured):
        raise InvalidInput(f"{what} is {measured!r}: give numbers by name, such as {{'latency': 3.2}}.")
    for name, value in measured.items():
        if as_number(value) is None:
            raise InvalidInput(f"{what} has {name} = {value!r}: give a number.")
    return dict(measured)
