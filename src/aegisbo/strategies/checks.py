"""Checks of the parameters that strategies are made with: each returns the value in its plain type, or refuses it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, Self

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_finite, as_switch, as_whole

Check = Callable[[str, Any], Any]  # (name, value) -> the value as it is kept


class BadParameter(InvalidInput):
    """A parameter of a strategy whose value cannot be used."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        super().__init__(f"{name} must be {allowed}, got {value!r}.")
        self.name, self.allowed = name, allowed


class KnownParameters:
    """A class that answers a misspelled parameter with the one that was probably meant."""

    def __new__(cls, *args: Any, **given: Any) -> Self:
        known = signature(cls).parameters
        for name in given:
            if name not in known and not any(each.kind is each.VAR_KEYWORD for each in known.values()):
                raise UnknownName(f"parameter of {cls.__name__}", name, known)
        return super().__new__(cls)


def check(strategy: object, **checks: Check) -> None:
    """Put each named field of a frozen dataclass through its check."""
    for name, each in checks.items():
        object.__setattr__(strategy, name, each(name, getattr(strategy, name)))


def check_that(kept: Callable[[Any], Any], allowed: str) -> Check:
    """A check that keeps what a function makes of the value; if that is None, it refuses the value in these words."""

    def check_value(name: str, value: object) -> Any:
        if (found := kept(value)) is None:
            raise BadParameter(name, value, allowed)
        return found

    return check_value


share = check_that(partial(as_finite, least=0.0, most=1.0), "a number from 0 to 1")
count = check_that(partial(as_whole, least=1), "a whole number from 1 upwards")
switch = check_that(as_switch, "True or False")


def one_of(*options: str) -> Check:
    """One of these names."""
    return check_that(
        lambda value: value if isinstance(value, str) and value in options else None, " or ".join(options)
    )


def optional(inner: Check) -> Check:
    """None, or what another check allows."""
    return lambda name, value: None if value is None else inner(name, value)
