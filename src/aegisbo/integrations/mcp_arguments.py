"""The arguments of an adviser's tools: each is described to the client and checked by the same entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_whole
from aegisbo.printable import brief

REQUIRED = object()
MOST_POINTS = 20  # of one call
MOST_NUMBERS = 100


class Argument(NamedTuple):
    """One argument of a tool."""

    schema: Mapping[str, Any]  # as JSON Schema describes it
    right: Callable[[Any], bool]
    form: str  # what to give
    default: Any = REQUIRED


Arguments = Mapping[str, Argument]


def whole(about: str, least: int, most: int, default: Any = REQUIRED) -> Argument:
    """A whole number within bounds."""
    schema = {"type": "integer", "minimum": least, "maximum": most, "description": about}
    return Argument(
        schema,
        lambda value: as_whole(value, least, most) is not None,
        f"a whole number from {least} to {most}",
        default,
    )


def word(about: str, default: Any = REQUIRED, known: tuple[str, ...] = ()) -> Argument:
    """A short text, one of those that are known if there are any."""
    schema = {"type": "string", "description": about, **({"enum": list(known)} if known else {})}
    form = f"one of {', '.join(known)}" if known else "a text"
    return Argument(schema, lambda value: isinstance(value, str) and (not known or value in known), form, default)


def number(about: str) -> Argument:
    """A number, which is checked where it is used."""
    return Argument({"type": "number", "description": about}, lambda value: type(value) in (int, float), "a number")


POINT = {"type": "object", "description": "A value for each parameter, by name, such as the tool `space` lists them."}
a_point = Argument(POINT, lambda value: isinstance(value, dict), "an object with a value for each parameter")
points = Argument(
    {"type": "array", "items": POINT, "minItems": 1, "maxItems": MOST_POINTS},
    lambda value: _is_list(value, dict, MOST_POINTS),
    f"a list of 1 to {MOST_POINTS} objects, each with a value for each parameter",
)
numbers = Argument(
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MOST_NUMBERS},
    lambda value: _is_list(value, int, MOST_NUMBERS),
    f"a list of 1 to {MOST_NUMBERS} numbers of trials",
)


def _is_list(value: Any, kind: type, most: int) -> bool:
    return isinstance(value, list) and 0 < len(value) <= most and all(type(each) is kind for each in value)


def schema_of(arguments: Arguments) -> dict[str, Any]:
    """All of them as JSON Schema."""
    required = [name for name, argument in arguments.items() if argument.default is REQUIRED]
    described = {name: dict(argument.schema) for name, argument in arguments.items()}
    return {"type": "object", "properties": described, "required": required, "additionalProperties": False}


def checked(arguments: Arguments, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with defaults for those that are not given.

    Raises:
        InvalidInput: one is missing, unknown, or not what it must be.
    """
    for name in given:
        if name not in arguments:
            raise UnknownName("argument", brief(name), arguments)
    values = {}
    for name, argument in arguments.items():
        value = given.get(name, argument.default)
        if value is REQUIRED:
            raise InvalidInput(f"{name} is missing: give {argument.form}.")
        if name in given and not argument.right(value):
            raise InvalidInput(f"{name} is {brief(repr(value))}: give {argument.form}.")
        values[name] = value
    return values
