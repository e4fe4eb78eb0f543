"""How a named strategy is made from the parameters in a text, and written as such a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeGuard

from aegisbo.strategies import parameter_text
from aegisbo.strategies.base import Strategy


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

    def read(self, key: str, text: str) -> Any:
        """The value of a parameter that is written as `text`."""
        return parameter_text.read(key, text, self._kinds[key])

    def check_read(self, values: Mapping[str, Any]) -> None:
        """Refuse what could not be read, if the strategy itself has not."""
        for key, value in values.items():
            parameter_text.check_read(key, value, self._kinds[key])

    def written(self, name: str, strategy: Strategy) -> str | None:
        """The text that stands for a strategy under this name; None if there is none."""
        if any(getattr(strategy, key) != value for key, value in self.fixed.items()):
            return None
        pairs = []
        for each in self._fields:
            value = getattr(strategy, each.name)
            if each.name in self.fixed or each.name == "preset" or equal(value, _default(each)):
                continue
            text = parameter_text.write(value)
            if text is None or each.name not in self._kinds:
                return None
            pairs.append(f"{each.name}={text}")
        return f"{name}:{','.join(pairs)}" if pairs else name

    @cached_property
    def _fields(self) -> tuple[Field[Any], ...]:
        return tuple(each for each in fields(self.make) if each.init) if _is_dataclass(self.make) else ()

    @cached_property
    def _kinds(self) -> dict[str, parameter_text.Kinds]:
        """The fields that a text can set, with the types that they may have."""
        kinds = parameter_text.kinds_of(self.make) if _is_dataclass(self.make) else {}
        settable = (each.name for each in self._fields if each.name != "preset" and each.name not in self.fixed)
        return {name: kinds[name] for name in settable if kinds[name]}


def equal(a: object, b: object) -> bool:
    """Whether two values are equal and can be compared at all."""
    try:
        return bool(a == b)
    except ValueError:  # arrays, in fields that no text can set
        return False


def _is_dataclass(make: object) -> TypeGuard[type]:
    return isinstance(make, type) and is_dataclass(make)


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
