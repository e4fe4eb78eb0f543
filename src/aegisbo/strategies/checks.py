"""Checks of the parameters that strategies are made with: each returns the value in its plain type, or refuses it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Self

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_number, as_switch, as_whole

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


def share(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = as_number(value)
    if number is None or not 0.0 <= number <= 1.0:
        raise BadParameter(name, value, "a number from 0 to 1")
    return number


def count(name: str, value: object) -> int:
    """A whole number from 1 upwards."""
    whole = as_whole(value, least=1)
    if whole is None:
        raise BadParameter(name, value, "a whole number from 1 upwards")
    return whole


def switch(name: str, value: object) -> bool:
    """True or False."""
    on = as_switch(value)
    if on is None:
        raise BadParameter(name, value, "True or False")
    return on


def one_of(*options: str) -> Check:
    """One of these names."""

    def check_name(name: str, value: object) -> object:
        if not isinstance(value, str) or value not in options:
            raise BadParameter(name, value, " or ".join(options))
        return value

    return check_name


def optional(inner: Check) -> Check:
    """None, or what another check allows."""
    return lambda name, value: None if value is None else inner(name, value)
