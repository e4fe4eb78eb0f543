"""What somebody probably meant who wrote down a parameter or a space in a way that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput
from aegisbo.number import as_number
from aegisbo.space.parameters import Choice, Int, Parameter, Real


def is_list(value: Any) -> bool:
    """Whether a value holds others in a fixed order."""
    if isinstance(value, str | bytes | Mapping | Set):
        return False
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def is_pair(entry: Any) -> bool:
    """Whether an entry was meant as (low, high): two values, one of which is a number at least."""
    if isinstance(entry, range) or not is_list(entry):
        return False
    values = list(entry)
    return len(values) == 2 and any(as_number(value) is not None for value in values)


def remedy_for(entry: Any) -> str:
    """How an entry that is no parameter could be written, as the end of a sentence; nothing if nobody can guess."""
    if as_number(entry) is not None:
        return ": put a constant into the function"
    try:
        meant = _meant(entry)
    except InvalidInput:
        return ""
    return "" if meant is None else f": write {meant}"


def remedy_for_space(spec: Any) -> str:
    """How something that is no space could be written, as the end of a sentence; nothing if nobody can guess."""
    if isinstance(spec, Parameter):
        return f": write [{spec}], or a dict by name"
    if isinstance(spec, str) and spec.endswith(".toml"):
        return f": write aegisbo.space.read_space({spec!r})"
    match [as_number(value) for value in spec] if is_list(spec) else None:
        case [float(low), float(high)]:
            return f": write [({low:g}, {high:g})] for one parameter with these bounds"
        case [*_]:
            return ": write a pair (low, high) for each parameter"
    return ""


def _meant(entry: Any) -> Parameter | None:
    if isinstance(entry, range) and entry:
        return Int(entry[0], entry[-1], step=entry.step)
    if isinstance(entry, Set):
        return Choice(sorted(entry, key=str))
    if not is_list(entry):
        return None
    match list(entry):
        case [low, high, str(scale)] if as_number(low) is not None:  # as other packages write it
            return Real(low, high, log=True) if scale.startswith("log") else Real(low, high)
        case values:
            return Choice(values)
