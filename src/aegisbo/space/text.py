"""Values of parameters as people type them: on a command line, or in the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import number_or_text
from aegisbo.space.parameters import Choice, Parameter, Scalar, naming
from aegisbo.space.space import Space

WORDS: dict[str, Scalar] = {"true": True, "false": False, "none": None, "": None}


def value_from(parameter: Parameter, text: str) -> Any:
    """The value that a text means; whether the parameter can have it is checked elsewhere.

    Raises:
        InvalidInput: the text is not a number, or not among the choices.
    """
    if isinstance(parameter, Choice):
        return _chosen(parameter, text)
    value = meaning_of(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{text!r} is no number: {parameter} needs one.")
    return value


def spelled(value: Any) -> Any:
    """True, False and None as Python writes them, in all that people read; any other value as it is."""
    return str(value) if value is None or isinstance(value, bool) else value


def values_from(space: Space, texts: Mapping[str, str]) -> dict[str, Any]:
    """Values by name from texts by name, as `value_from`; a name that the space does not have keeps its text."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        with naming(name):
            values[name] = value_from(space.parameters[name], text) if name in space.parameters else text
    return values


def meaning_of(text: str) -> Scalar:
    """What a text means by itself: a number, true, false or none if it reads like one."""
    meant = number_or_text(text)
    return WORDS.get(meant.lower(), text) if isinstance(meant, str) else meant


def _chosen(choice: Choice, text: str) -> Scalar:
    """The choice with this text; else the one that means the same, such as 0.10 for 0.1."""
    if text in choice.values:
        return text
    meant = meaning_of(text)
    for value in choice.values:
        if value == meant and isinstance(value, bool) == isinstance(meant, bool):
            return value
    raise InvalidInput(f"{text!r} is not among the choices: use one of {list(choice.values)}.")
