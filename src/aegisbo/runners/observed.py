"""Results from elsewhere, as a user passes them: pairs of a point and a value, and earlier runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aegisbo.address import Address, Named, Place, place_of
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.optimizer import Settings
from aegisbo.optimizer.settings import listed
from aegisbo.optimizer.told import outcome_told
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.recipe import objective_of
from aegisbo.space.parameters import naming
from aegisbo.study import Earlier
from aegisbo.study.earlier import Table, is_source
from aegisbo.study.fitting import Observation, fitted, value_of
from aegisbo.study.stored_function import StoredFunction

Lists = Sequence[Sequence[Observation]]  # one for each earlier run


def observed_elsewhere(
    observed: Any, settings: Settings, fun: Callable[..., Any], study: Named | None
) -> tuple[list[Observation], Lists]:
    """Read `observed`: the pairs as results, and the results of each earlier run that fit the new one.

    Everything is checked before any file is touched; the log says what is left out.
    """
    if observed is None:
        return [], []
    entries = [observed] if is_source(observed) else listed(observed, "observed")
    sources = [entry if isinstance(entry, Earlier) else Earlier(entry) for entry in entries if is_source(entry)]
    pairs = [entry for entry in entries if not is_source(entry)]
    results = [_result(k, entry, settings) for k, entry in enumerate(pairs)]
    for source in (each.source for each in sources if isinstance(each.source, str | os.PathLike | Address)):
        place = place_of(source)
        if study is not None and _same(place, place_of(study)):
            raise InvalidInput(f"{place} is the study itself, which knows its own results: leave it out of observed.")
    wanted = settings.wanted
    tables = [each.table([name for name in wanted.names if name in wanted.objectives]) for each in sources]
    names = set(settings.space.parameters).union(*(table.names for table in tables))
    givens = [_checked_given(each.given or {}, settings, names) for each in sources]
    return results, [_used(*each, settings, objective_of(fun)) for each in zip(tables, givens, strict=True)]


def _same(one: Place, other: Place) -> bool:
    if isinstance(one, Address) or isinstance(other, Address):
        return one == other
    return one.resolve() == other.resolve()


def _used(
    table: Table, given: Mapping[str, Any], settings: Settings, objective: StoredFunction
) -> Sequence[Observation]:
    _require_alike(table, settings, objective)
    fit = fitted(table, settings.space, given, settings.wanted)
    if not fit.observations:
        raise InvalidInput(str(fit))
    (logger.warning if fit.left_out or fit.ignored else logger.info)(str(fit))
    return [(params, settings.completed(params, outcome)) for params, outcome in fit.observations]


def _require_alike(table: Table, settings: Settings, objective: StoredFunction) -> None:
    """Refuse values with the opposite direction; warn if they are values of another function."""
    one_number = not settings.objectives  # several objectives have names, so the earlier direction does not matter
    if one_number and table.maximize is not None and table.maximize != settings.maximize:
        was, now = ("maximized", "minimizes") if table.maximize else ("minimized", "maximizes")
        raise InvalidInput(
            f"{table.name} was {was} and this call {now}: its best would be the worst here. Leave it out, or say the "
            "same in both (maximize, --maximize)."
        )
    change = None if table.objective is None else objective.change_from(table.objective)
    if change is not None:
        logger.warning(f"{table.name} was made for {change}. This call takes its values for values of this function.")


def _checked_given(given: Mapping[str, Any], settings: Settings, names: set[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"given must be a dict of values by parameter, got {given!r}.")
    checked = {}
    for name, value in given.items():
        if name not in names:
            raise UnknownName("parameter in given", name, names)
        with naming(name):
            parameter = settings.space.parameters.get(name)
            checked[name] = value_of(parameter, value) if parameter else value
    return checked


def _result(k: int, entry: Any, settings: Settings) -> Observation:
    try:
        x, y, *measured = entry
    except (TypeError, ValueError):
        measured = [None, None]
    if len(measured) > 1 or not all(isinstance(each, Mapping) for each in measured):
        raise InvalidInput(f"observed must hold pairs of a point and its value; entry {k} is {entry!r}.")
    try:
        outcome = outcome_told(y, None, measured[0] if measured else None, settings.wanted)
        params = settings.space.check(x)
        return params, settings.completed(params, outcome)
    except InvalidInput as error:
        raise InvalidInput(f"observed, entry {k}: {error}") from None
