"""Other ways to write a parameter: a pair of bounds, one of Optuna's distributions, a table in JSON or TOML.

If an entry is none of these, the error says what the user probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, asdict, fields
from difflib import get_close_matches
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_number
from aegisbo.space.constraints import KEY
from aegisbo.space.parameters import Choice, Int, Parameter, Real, naming

Pair = Sequence[float]  # (low, high), short for Real(low, high)
Entry = Parameter | Pair | Any  # Any: one of Optuna's distributions
KINDS: dict[str, type[Parameter]] = {"real": Real, "int": Int, "choice": Choice}


def parameter_from_entry(name: str, entry: Entry) -> Parameter:
    """The parameter of an entry of a space."""
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"A parameter's name must be text, got {name!r}.")
    if isinstance(entry, Parameter):
        return entry
    if type(entry).__module__ == "optuna.distributions":
        return _from_optuna(name, entry)
    entry = list(entry) if isinstance(entry, Iterator) else entry  # it can be read only once
    if not _is_pair(entry):
        raise InvalidInput(
            f"Parameter {name!r} must be Real, Int, Choice or a pair (low, high), got {entry!r}{_remedy_for(entry)}."
        )
    low, high = entry
    with naming(name):
        return Real(low, high)


def entries_of(spec: Any) -> list[Entry]:
    """The entries of a space without names."""
    if type(spec).__name__ == "Bounds" and type(spec).__module__.startswith("scipy.optimize"):
        return list(np.column_stack(np.broadcast_arrays(np.ravel(spec.lb), np.ravel(spec.ub))).tolist())
    entries = list(spec) if _is_list(spec) else None
    if entries is None or any(as_number(entry) is not None for entry in entries):
        raise InvalidInput(f"A space is a dict or a list of parameters, got {spec!r}{_remedy_for_space(spec)}.")
    return entries


def _from_optuna(name: str, distribution: Any) -> Parameter:
    """The parameter of one of Optuna's distributions, without importing Optuna."""
    with naming(name):
        match type(distribution).__name__:
            case "FloatDistribution" if distribution.step is None:
                return Real(distribution.low, distribution.high, distribution.log)
            case "IntDistribution":
                return Int(distribution.low, distribution.high, distribution.log, distribution.step)
            case "CategoricalDistribution":
                return Choice(distribution.choices)
        raise InvalidInput(f"{distribution!r} has no counterpart: use an int, and scale it in the function.")


def table_of(parameter: Parameter) -> dict[str, Any]:
    """The parameter as a table in JSON types, which `parameter_from_table` reads."""
    kind = next(name for name, kind in KINDS.items() if isinstance(parameter, kind))
    table = {"type": kind, **asdict(parameter)}
    for name in ("when", "guess"):  # as written by versions without them
        if table[name] is None:
            del table[name]
    if isinstance(parameter, Choice) and parameter.guess is not None:  # keys in JSON are text
        table["guess"] = list(parameter.guess.items())
    return table


def parameter_from_table(name: str, table: Mapping[str, Any]) -> Parameter:
    """The parameter that a table describes, such as {"type": "real", "low": 0.0, "high": 1.0}."""
    if not isinstance(table, Mapping) or "type" not in table:
        meant = get_close_matches(name, [KEY], cutoff=0.8) and not isinstance(table, Mapping)
        remedy = f'; constraints are a list of texts, before all tables: {KEY} = ["a < b"]' if meant else ""
        raise InvalidInput(f"Parameter {name!r} must have a type ({', '.join(KINDS)}), got {table!r}{remedy}.")
    entries = dict(table)
    kind = entries.pop("type")
    with naming(name):
        if not isinstance(kind, str) or kind not in KINDS:
            raise UnknownName("parameter type", str(kind), KINDS)
        known = {field.name: field.default for field in fields(KINDS[kind])}
        for key in entries:
            if key not in known:
                raise UnknownName(f"key of type {kind}", key, known)
        for key, default in known.items():
            if default is MISSING and key not in entries:
                raise InvalidInput(f"{key!r} is missing.")
        return KINDS[kind](**entries)


def _is_list(value: Any) -> bool:
    """Whether a value holds others in a fixed order."""
    if isinstance(value, str | bytes | Mapping | Set):
        return False
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def _is_pair(entry: Any) -> bool:
    """Whether an entry was meant as (low, high): two values, at least one of them a number."""
    if isinstance(entry, range) or not _is_list(entry):
        return False
    values = list(entry)
    return len(values) == 2 and any(as_number(value) is not None for value in values)


def _remedy_for(entry: Any) -> str:
    """How to write an entry that is no parameter, as the end of a sentence; empty without a guess."""
    if as_number(entry) is not None:
        return ": put a constant into the function"
    try:
        meant = _meant(entry)
    except InvalidInput:
        return ""
    return "" if meant is None else f": write {meant}"


def _remedy_for_space(spec: Any) -> str:
    """How to write something that is no space, as the end of a sentence; empty without a guess."""
    if isinstance(spec, Parameter):
        return f": write [{spec}], or a dict by name"
    if isinstance(spec, str) and spec.endswith(".toml"):
        return f": write aegisbo.space.read_space({spec!r})"
    match [as_number(value) for value in spec] if _is_list(spec) else None:
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
    if not _is_list(entry):
        return None
    match list(entry):
        case [low, high, str(scale)] if as_number(low) is not None:  # as in other packages
            return Real(low, high, log=True) if scale.startswith("log") else Real(low, high)
        case values:
            return Choice(values)
