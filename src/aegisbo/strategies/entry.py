"""How a named strategy is made from the parameters in a text, and written as such a text.

A parameter is on, off, 0.2, 5 or a name, by the types that its field may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from aegisbo.errors import AegisError
from aegisbo.number import number_in
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.checks import BadParameter

SWITCH = {"on": True, "off": False}
SCALARS = frozenset([bool, int, float, str])  # what can be written
Kinds = frozenset[type]  # the scalars that a parameter may be


@dataclass(frozen=True)
class Entry:
    """How a named strategy is made."""

    summary: str
    make: Callable[..., Strategy]
    fixed: Mapping[str, Any] = field(default_factory=dict)  # fields that the name decides

    @property
    def parameters(self) -> tuple[str, ...]:
        """What may follow the name."""
        return tuple(self._kinds)

    @property
    def uses_preset(self) -> bool:
        """Whether the strategy depends on the preset."""
        return any(each.name == "preset" for each in self._fields)

    @property
    def required(self) -> tuple[str, ...]:
        """What must follow the name."""
        return tuple(each.name for each in self._fields if each.name in self._kinds and _default(each) is MISSING)

    def made(self, texts: Mapping[str, str], **given: Any) -> Strategy:
        """The strategy with the parameters that are written as these texts, and others that are given."""
        values = {key: _read(key, text, self._kinds[key]) for key, text in texts.items()}
        strategy = self.make(**self.fixed, **given, **values)
        for key, value in values.items():  # what the strategy itself has not refused
            if isinstance(value, str) and str not in self._kinds[key]:
                raise BadParameter(key, value, "a number" if float in self._kinds[key] else "a whole number")
        return strategy

    def written(self, name: str, strategy: Strategy) -> str | None:
        """The text that stands for a strategy under this name; None if there is none."""
        if any(getattr(strategy, key) != value for key, value in self.fixed.items()):
            return None
        pairs = []
        for each in self._fields:
            value = getattr(strategy, each.name)
            if each.name in self.fixed or each.name == "preset" or equal(value, _default(each)):
                continue
            text = _written(value)
            if text is None or each.name not in self._kinds:
                return None
            pairs.append(f"{each.name}={text}")
        return f"{name}:{','.join(pairs)}" if pairs else name

    @cached_property
    def _fields(self) -> tuple[Field[Any], ...]:
        if not isinstance(self.make, type) or not is_dataclass(self.make):
            return ()
        return tuple(each for each in fields(self.make) if each.init)

    @cached_property
    def _kinds(self) -> dict[str, Kinds]:
        """The fields that a text can set, with the types that they may have."""
        try:
            hints = get_type_hints(self.make) if self._fields else {}
        except NameError as error:
            name = getattr(self.make, "__qualname__", self.make)
            raise AegisError(f"The types of the fields of {name} cannot be found out: {error}.") from error
        settable = (each.name for each in self._fields if each.name != "preset" and each.name not in self.fixed)
        return {name: kinds for name in settable if (kinds := _kinds(hints[name]))}


def equal(a: object, b: object) -> bool:
    """Whether two values are equal and can be compared at all."""
    try:
        return bool(a == b)
    except ValueError:  # arrays, in fields that no text can set
        return False


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()


def _kinds(hint: Any) -> Kinds:
    """What a field with this type hint may be; nothing where no text can stand for it."""
    if get_origin(hint) in (Union, UnionType):
        return frozenset[type]().union(*(_kinds(each) for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is Literal:
        return frozenset(type(value) for value in get_args(hint)) & SCALARS
    return frozenset([hint]) & SCALARS if isinstance(hint, type) else frozenset()


def _read(name: str, text: str, kinds: Kinds) -> bool | int | float | str:
    """The value that a text stands for; the text itself if it is none of these types."""
    if bool in kinds and text in SWITCH:
        return SWITCH[text]
    if int in kinds and re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if float in kinds and (number := number_in(text)) is not None:
        return number
    if kinds == {bool}:
        raise BadParameter(name, text, " or ".join(SWITCH))
    return text


def _written(value: object) -> str | None:
    """The text that is read as this value; None if there is none."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value) if isinstance(value, int | float) else value if isinstance(value, str) else None
