"""Earlier results in another space: which of them fit, why the others do not, and which are new."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.events import OBSERVED, Observed
from aegisbo.optimizer import Trial
from aegisbo.outcome import ONE_NUMBER, Outcome, Wanted
from aegisbo.printable import printable
from aegisbo.space import Choice, Params, Space
from aegisbo.space.parameters import Parameter
from aegisbo.space.text import meaning_of, spelled, value_from
from aegisbo.study.earlier import Row, Table, outcome_of

EARLIER = {**OBSERVED, "earlier": True}  # the note of a result from an earlier run, not given as a pair
Observation = tuple[Params, Outcome]  # a point of the space, and how its evaluation ended elsewhere


@dataclass(frozen=True)
class Fit:
    """The results of a table that fit a space."""

    name: str  # of the table
    observations: tuple[Observation, ...]
    left_out: Mapping[str, int]  # counts by reason
    ignored: tuple[str, ...] = ()  # columns that are not parameters

    def __str__(self) -> str:
        rows = len(self.observations) + sum(self.left_out.values())
        if not rows:
            return f"{self.name} holds no results: name another file, or leave it out."
        said = f"{self.name}: {len(self.observations) or 'none'} of {rows} earlier results used."
        if self.left_out:
            reasons = "; ".join(f"{count} because {reason}" for reason, count in self.left_out.items())
            said += f" Left out: {reasons}."
        said += f" Columns that are no parameters: {', '.join(self.ignored)}." if self.ignored else ""
        return printable(said)  # names and values may come from a stranger


def fitted(table: Table, space: Space, given: Mapping[str, Any], wanted: Wanted = ONE_NUMBER) -> Fit:
    """The results that fit a space.

    A row fits if every parameter that exists has a value in it or in `given`. Parameters that the space does not have
    must have their value in `given`, or the same value in all rows.

    Args:
        table: the earlier results.
        space: of the new run.
        given: values of parameters that only the table has, or only the space.
        wanted: what must have been measured.
    """
    observations: list[Observation] = []
    reasons: Counter[str] = Counter()
    lacking = table.names - set(space.parameters) - set(given)  # in the space
    varying = _varying(table.rows, lacking) if table.exact else set()
    blank = _blank(table, space)
    for params, outcome in table.rows:
        try:
            if outcome is None:
                raise InvalidInput("there is no value, and no failure either")
            _require_comparable(params, space, given, varying)
            said = {name: cell for name, cell in params.items() if not (name in blank and cell in (None, ""))}
            point = _point(said, space, given)
            observations.append((point, _measured(outcome, wanted)))
        except InvalidInput as reason:
            reasons[str(reason).rstrip(".")] += 1
    ignored = () if table.exact else sorted(map(str, lacking))
    return Fit(table.name, tuple(observations), dict(reasons), tuple(ignored))


def _measured(outcome: Outcome, wanted: Wanted) -> Outcome:
    """The outcome, if all was measured that is wanted."""
    if outcome.state != "done":
        return outcome
    for name in wanted.names:
        if name not in outcome.measured:
            what = "is an objective" if name in wanted.objectives else "has a limit"
            raise InvalidInput(f"{name}, which {what}, was not measured")
    if wanted.objectives:
        return replace(outcome, value=None, sd=None)
    if outcome.value is None:
        raise InvalidInput("it has several objectives and no single value")
    return outcome


def value_of(parameter: Parameter, value: Any) -> Any:
    """A value of the parameter, given as itself or as text.

    Raises:
        InvalidInput: the parameter cannot have it as it is.
    """
    return parameter.check(value_from(parameter, value) if isinstance(value, str) else value)


def news_among(lists: Iterable[Sequence[Observation]], known: Sequence[Trial]) -> Iterator[Observed]:
    """The new results in several lists; one that is in two of them, or known already, counts once."""
    seen = Counter(_key(trial.params, outcome_of(trial)) for trial in known)
    number = -len(known)
    for observations in lists:
        here: Counter[str] = Counter()
        for params, outcome in observations:
            key = _key(params, outcome)
            here[key] += 1  # within one list, the same result twice counts twice
            if here[key] > seen[key]:
                seen[key] += 1
                number -= 1
                yield Observed(number, params, outcome, EARLIER)


def _key(params: Params, outcome: Outcome) -> str:
    done = outcome.state == "done"
    value = dict(outcome.measured) if done and outcome.value is None else outcome.value if done else None
    return json.dumps([params, outcome.state, value], sort_keys=True)


def _varying(rows: Iterable[Row], names: Iterable[str]) -> set[str]:
    """Which of these names vary between the rows that have ended."""
    ended = [params for params, outcome in rows if outcome is not None]
    return {name for name in names if len({json.dumps(params[name]) for params in ended if name in params}) > 1}


def _blank(table: Table, space: Space) -> set[str]:
    """The parameters for which an empty cell means no value: those that cannot be None, or for which a cell says None.

    Older versions also left the cell of a None choice empty.
    """
    if not table.cells:
        return set()
    said = {name for params, _ in table.rows for name, value in params.items() if value == spelled(None)}
    choices = {name: p.values for name, p in space.parameters.items() if isinstance(p, Choice)}
    return {name for name in space.parameters if name in said or None not in choices.get(name, ())}


def _require_comparable(params: Mapping[str, Any], space: Space, given: Mapping[str, Any], varying: set[str]) -> None:
    for name in varying:
        if name in params:
            raise InvalidInput(f"{name} varied and is no parameter now ({_given(name)} uses those at one value of it)")
    for name, value in given.items():
        if name in params and name not in space.parameters:
            was, meant = (meaning_of(each) if isinstance(each, str) else each for each in (params[name], value))
            if params[name] != value and was != meant:
                raise InvalidInput(f"{name} is not {value}")


def _given(name: str) -> str:
    return f"--given {name}=..., in Python Earlier(..., given=...),"


def _point(said: Mapping[str, Any], space: Space, given: Mapping[str, Any]) -> Params:
    values: Params = {}
    for name, parameter in space.parameters.items():
        try:
            if name in said or name in given:
                values[name] = value_of(parameter, said[name] if name in said else given[name])
        except InvalidInput:
            raise InvalidInput(f"{name} is not in {parameter}") from None
    there = set(space.parameters if space.branches is None else space.changed(values, {}))
    for name in space.parameters:
        if name in there and name not in values:
            raise InvalidInput(f"{name} is missing ({_given(name)} says what it was)")
    return space.check({name: value for name, value in values.items() if name in there})
