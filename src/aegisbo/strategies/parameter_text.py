"""Values of parameters as text: on, off, 0.2, 5 or a name, by the types that the parameter may have."""

from __future__ import annotations

import re
from contextlib import suppress
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from aegisbo.errors import AegisError
from aegisbo.strategies.checks import BadParameter

SWITCH = {"on": True, "off": False}
SCALARS = frozenset([bool, int, float, str])  # what can be written
Kinds = frozenset[type]  # the scalars that a parameter may be


def kinds_of(cls: type) -> dict[str, Kinds]:
    """What each field of a dataclass may be; nothing where no text can stand for it."""
    try:
        hints = get_type_hints(cls)
    except NameError as error:
        raise AegisError(f"The types of the fields of {cls.__qualname__} cannot be found out: {error}.") from error
    return {name: _kinds(hint) for name, hint in hints.items()}


def _kinds(hint: Any) -> Kinds:
    if get_origin(hint) in (Union, UnionType):
        return frozenset[type]().union(*(_kinds(each) for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is Literal:
        return frozenset(type(value) for value in get_args(hint)) & SCALARS
    return frozenset([hint]) & SCALARS if isinstance(hint, type) else frozenset()


def read(name: str, text: str, kinds: Kinds) -> bool | int | float | str:
    """The value that a text stands for; the text itself if it is none of these types, see `check_read`."""
    if bool in kinds and text in SWITCH:
        return SWITCH[text]
    if int in kinds and re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if float in kinds:
        with suppress(ValueError):
            return float(text)
    if kinds == {bool}:
        raise BadParameter(name, text, " or ".join(SWITCH))
    return text


def check_read(name: str, value: object, kinds: Kinds) -> None:
    """Refuse a text that should have been a number, for strategies that do not check their parameters themselves."""
    if isinstance(value, str) and str not in kinds:
        raise BadParameter(name, value, "a number" if float in kinds else "a whole number")


def write(value: object) -> str | None:
    """The text that is read as this value; None if there is none."""
    match value:
        case bool():
            return "on" if value else "off"
        case int() | float():
            return repr(value)
        case str():
            return value
    return None
