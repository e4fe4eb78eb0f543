"""When a parameter exists: what `when` may say about other parameters, and what it means on their axes.

    when={"optimizer": "adam"}             this value
    when={"optimizer": ["adam", "sgd"]}    one of these
    when={"layers": ">= 2"}                also "<= 2", "> 2", "< 2" and "2 to 4", ends included
    when={"optimizer": "sgd", "layers": 3} all of these at once

It reads the same in Python, JSON and TOML.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import UNSIGNED
from aegisbo.space.branches import Branches, Condition, Spans
from aegisbo.space.parameters import Choice, Int, Parameter, Real, naming

NUMBER = rf"([-+]?{UNSIGNED})"
COMPARISON = re.compile(rf"\s*(>=|<=|>|<)\s*{NUMBER}\s*")
RANGE = re.compile(rf"\s*{NUMBER}\s+to\s+{NUMBER}\s*")


def branches_of(parameters: Mapping[str, Parameter]) -> Branches | None:
    """The conditions of all parameters; None if there are none.

    Raises:
        InvalidInput: a condition names no parameter, or a value that it cannot have; a parameter would never exist.
    """
    if not any(parameter.when for parameter in parameters.values()):
        return None
    found = []
    for name, parameter in parameters.items():
        with naming(name):
            found.append(tuple(_condition(name, parameters, *item) for item in (parameter.when or {}).items()))
    branches, names = Branches(tuple(found)), list(parameters)
    if len(branches.order) < len(names):
        circle = " -> ".join(names[k] for k in _circle(branches))
        raise InvalidInput(f"Conditions form a circle ({circle}): leave one of them out.")
    for k, name in enumerate(names):
        if not branches.is_reached(k):
            raise InvalidInput(f"Parameter {name!r} never exists: no point satisfies {when_text(parameters[name])}.")
    return branches


def when_text(parameter: Parameter) -> str:
    """The conditions of a parameter, such as: optimizer is 'adam' and layers >= 2."""
    return " and ".join(_told(parent, wanted) for parent, wanted in (parameter.when or {}).items())


def _told(parent: str, wanted: Any) -> str:
    if isinstance(wanted, str) and COMPARISON.fullmatch(wanted):
        return f"{parent} {wanted}"
    return f"{parent} is one of {wanted}" if isinstance(wanted, list) else f"{parent} is {wanted!r}"


def _condition(name: str, parameters: Mapping[str, Parameter], parent: str, wanted: Any) -> Condition:
    if parent not in parameters:
        raise UnknownName("parameter in `when`", parent, {*parameters} - {name})
    try:
        return Condition(list(parameters).index(parent), _spans(parameters[parent], wanted))
    except InvalidInput as error:
        raise InvalidInput(f"when {parent} is {wanted!r}: {error}") from None


def _spans(parent: Parameter, wanted: Any) -> Spans:
    """Where on its axis the parent must lie: levels, or coordinates of a real parameter."""
    if not isinstance(parent, Choice) and isinstance(wanted, str):
        return (_range(parent, wanted),)
    if isinstance(parent, Real):
        raise InvalidInput("a real number hardly ever has one value: write a range, such as '>= 0.5' or '0 to 1'.")
    levels = [_level(parent, value) for value in (wanted if isinstance(wanted, list) else [wanted])]
    return tuple((level, level) for level in levels)


def _level(parent: Int | Choice, value: Any) -> int:
    if isinstance(parent, Choice):
        return parent.values.index(parent.check(value))
    return (parent.check(value) - parent.low) // parent.step


def _range(parent: Real | Int, text: str) -> tuple[float, float]:
    low, high = _limits(text)
    if low > parent.high or high < parent.low:
        raise InvalidInput(f"{parent} never gets there.")
    if isinstance(parent, Int):
        # In whole numbers: a difference of floats would round away the distance of "> 2" from 2.
        first = max(-((parent.low - math.ceil(low)) // parent.step), 0) if low > -math.inf else 0
        last = parent.axis.size - 1
        last = min((math.floor(high) - parent.low) // parent.step, last) if high < math.inf else last
        span: tuple[float, float] = (first, last)
    else:
        span = _coordinate(parent, low), _coordinate(parent, high)
    if span[0] > span[1]:
        raise InvalidInput(f"{parent} never gets there.")
    return span


def _limits(text: str) -> tuple[float, float]:
    """The smallest and the largest number in the range of a text."""
    if found := RANGE.fullmatch(text):
        return float(found[1]), float(found[2])
    if not (found := COMPARISON.fullmatch(text)):
        raise InvalidInput("for a number, write a comparison such as '>= 2', or a range such as '2 to 4'.")
    number = float(found[2])
    match found[1]:
        case ">=":
            return number, math.inf
        case ">":
            return math.nextafter(number, math.inf), math.inf
        case "<":
            return -math.inf, math.nextafter(number, -math.inf)
    return -math.inf, number


def _coordinate(parent: Real, value: float) -> float:
    """Where the value lies; only the bounds themselves lie at 0 and 1."""
    if not parent.low < value < parent.high:
        return 0.0 if value <= parent.low else 1.0
    return min(max(parent.encode(value)[0], math.nextafter(0.0, 1.0)), math.nextafter(1.0, 0.0))


def _circle(branches: Branches) -> list[int]:
    """Axes that depend on each other in a circle."""
    stuck = set(range(len(branches.conditions))) - set(branches.order)
    path = [min(stuck)]
    while path[-1] not in path[:-1]:
        path.append(next(c.parent for c in branches.conditions[path[-1]] if c.parent in stuck))
    return path[path.index(path[-1]) :]
