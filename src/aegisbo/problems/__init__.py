"""Benchmark problems by name: functions with known answers, and families of instances."""

from __future__ import annotations

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.problems.base import Family, Parameter, Problem
from aegisbo.problems.profet import FC_NET, SVM, XGBOOST
from aegisbo.problems.push import PUSH4, PUSH8
from aegisbo.problems.synthetic import SYNTHETIC

__all__ = ["Family", "Parameter", "Problem", "families", "get", "names"]

_FUNCTIONS = {problem.name: problem for problem in SYNTHETIC}
_FAMILIES = {family.name: family for family in (SVM, PUSH4, FC_NET, PUSH8, XGBOOST)}


def names() -> tuple[str, ...]:
    """The names of the single functions, in order of dimension."""
    return tuple(_FUNCTIONS)


def families() -> tuple[Family, ...]:
    """The problems that come in numbered instances, in order of dimension."""
    return tuple(_FAMILIES.values())


def get(name: str, instance: int | None = None) -> Problem:
    """The function called `name`, or an instance of a family: get("push4", instance=3) or get("push4#3")."""
    base, number = _split(name)
    if number is not None and instance is not None:
        raise InvalidInput(f"{name!r} already names an instance: leave out instance={instance}.")
    number = instance if number is None else number
    if base in _FAMILIES:
        family = _FAMILIES[base]
        if number is None:
            raise InvalidInput(f"{base} has {family.count} instances: name one of them, such as {base + '#1'!r}.")
        return family.instance(number)
    if base not in _FUNCTIONS:
        raise UnknownName("problem", base, [*_FUNCTIONS, *_FAMILIES])
    if number is not None:
        raise InvalidInput(f"{base} is a single function: leave out the instance {number}.")
    return _FUNCTIONS[base]


def _split(name: str) -> tuple[str, int | None]:
    base, mark, number = name.partition("#")
    if not mark:
        return base, None
    if not number.isdecimal():
        raise InvalidInput(f"{name!r} has no instance number after #: write it like {base + '#1'!r}.")
    return base, int(number)
