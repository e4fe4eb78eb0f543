"""Earlier results in another space: which of them are results of its points, and why the others are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.outcome import Outcome
from aegisbo.printable import printable
from aegisbo.space import Choice, Params, Space
from aegisbo.space.parameters import Parameter
from aegisbo.space.text import meaning_of, spelled, value_from
from aegisbo.study.earlier import Row, Table
from aegisbo.study.observations import Observation

NONE = spelled(None)


class _Unfit(Exception):
    """A row is no result of a point; the message says why, as a clause."""


@dataclass(frozen=True)
class Fit:
    """What a table tells of a space."""

    name: str  # of the table
    observations: tuple[Observation, ...]
    left_out: Mapping[str, int]  # how many, by reason
    ignored: tuple[str, ...] = ()  # columns that are no parameters

    def __str__(self) -> str:
        rows = len(self.observations) + sum(self.left_out.values())
        if not rows:
            return f"{self.name} holds no results: name another file, or leave it out."
        said = f"{self.name}: {len(self.observations) or 'none'} of {rows} earlier results used."
        if self.left_out:
            reasons = "; ".join(f"{count} because {reason}" for reason, count in self.left_out.items())
            said += f" Left out: {reasons}."
        said += f" Columns that are no parameters: {', '.join(self.ignored)}." if self.ignored else ""
        return printable(said)  # names and values may be a stranger's


def fitted(table: Table, space: Space, given: Mapping[str, Any], needed: Iterable[str] = ()) -> Fit:
    """The results that are results of points of a space.

    A row fits if all parameters that are there have a value in it, or in `given`, and if it was measured where the
    others fit that the space does not have: at the value in `given`, or all rows at one.

    Args:
        table: the earlier results.
        space: of the new run.
        given: values of parameters that only the table has, or only the space.
        needed: what must have been measured beside the value, because it has a limit.
    """
    observations: list[Observation] = []
    reasons: Counter[str] = Counter()
    varying = _varying(table, space, given) if table.exact else set()
    blank = _blank(table, space)
    for row in table.rows:
        try:
            params, outcome = _observation(row, blank, space, given, varying)
            _require_measured(outcome, needed)
            observations.append((params, outcome))
        except _Unfit as reason:
            reasons[str(reason)] += 1
    ignored = () if table.exact else sorted(map(str, table.names - set(space.parameters) - set(given)))
    return Fit(table.name, tuple(observations), dict(reasons), tuple(ignored))


def _varying(table: Table, space: Space, given: Mapping[str, Any]) -> set[str]:
    """The parameters that the space does not have and that were not the same in all rows."""
    lacking = table.names - set(space.parameters) - set(given)
    ended = [row.params for row in table.rows if row.outcome is not None]
    values = {name: {json.dumps(row[name]) for row in ended if name in row} for name in lacking}
    return {name for name, found in values.items() if len(found) > 1}


def _blank(table: Table, space: Space) -> set[str]:
    """The parameters of which an empty cell says nothing: those that cannot be None, or for which a cell says None.

    Tables of older versions left the cell empty where a choice was None, too.
    """
    if not table.cells:
        return set()
    said = {name for row in table.rows for name, value in row.params.items() if value == NONE}
    choices = {name: p.values for name, p in space.parameters.items() if isinstance(p, Choice)}
    return {name for name in space.parameters if name in said or None not in choices.get(name, ())}


def _observation(
    row: Row, blank: Collection[str], space: Space, given: Mapping[str, Any], varying: set[str]
) -> Observation:
    if row.outcome is None:
        raise _Unfit("there is no value, and no failure either")
    constant = {name: value for name, value in given.items() if name not in space.parameters}
    _require_comparable(row.params, constant, varying)
    return _point(row.params, blank, space, given), row.outcome


def _require_measured(outcome: Outcome, needed: Iterable[str]) -> None:
    for name in needed:
        if outcome.state == "done" and name not in outcome.measured:
            raise _Unfit(f"{name}, which has a limit, was not measured")


def _require_comparable(params: Mapping[str, Any], constant: Mapping[str, Any], varying: set[str]) -> None:
    for name in varying:
        if name in params:
            raise _Unfit(f"{name} varied and is no parameter now ({_given(name)} uses those at one value of it)")
    for name, value in constant.items():
        if name in params and not _same(params[name], value):
            raise _Unfit(f"{name} is not {value}")


def _given(name: str) -> str:
    return f"--given {name}=..., in Python Earlier(..., given=...),"


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or _meant(one) == _meant(other)


def _meant(value: Any) -> Any:
    return meaning_of(value) if isinstance(value, str) else value


def _point(params: Mapping[str, Any], blank: Collection[str], space: Space, given: Mapping[str, Any]) -> Params:
    values: Params = {}
    for name, parameter in space.parameters.items():
        value = params.get(name)
        if name in params and not (name in blank and value in (None, "")):
            values[name] = _value(name, parameter, value)
        elif name in given:
            values[name] = parameter.check(given[name])
    there = set(space.parameters if space.branches is None else space.changed(values, {}))
    for name in space.parameters:
        if name in there and name not in values:
            raise _Unfit(f"{name} is missing ({_given(name)} says what it was)")
    try:
        return space.check({name: value for name, value in values.items() if name in there})
    except InvalidInput as error:
        raise _Unfit(str(error).rstrip(".")) from None


def _value(name: str, parameter: Parameter, value: Any) -> Any:
    """The value, if the parameter can have it as it is."""
    try:
        meant = value_from(parameter, value) if isinstance(value, str) else value
        return parameter.check(meant)
    except InvalidInput:
        raise _Unfit(f"{name} is not in {parameter}") from None
