"""Results from elsewhere, as a user hands them over: pairs of a point and a value, and earlier runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.optimizer import Core, Found, Settings
from aegisbo.optimizer.limits import names_of
from aegisbo.optimizer.settings import listed
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.recipe import objective_of
from aegisbo.space.parameters import naming
from aegisbo.space.text import value_from
from aegisbo.study import Earlier, Study
from aegisbo.study.earlier import Table, is_frame, is_trials
from aegisbo.study.fitting import fitted
from aegisbo.study.objective import Objective
from aegisbo.study.observations import Observation


@dataclass(frozen=True)
class Elsewhere:
    """What was observed elsewhere."""

    pairs: Sequence[tuple[Any, ...]] = ()  # as given, all of them points of the space
    earlier: Sequence[Sequence[Observation]] = ()  # what fits of each earlier run


def observed_elsewhere(
    observed: Any, settings: Settings, fun: Callable[..., Any], study: str | os.PathLike[str] | None
) -> Elsewhere:
    """What a user means by `observed`, checked before any file is touched; what is left out is said in the log.

    Args:
        observed: pairs, earlier runs, or a list of both.
        settings: of the new run.
        fun: the function of the new run.
        study: the file of the new run.

    Raises:
        InvalidInput: a pair is no point with a value, or an earlier run cannot be used.
        StudyError: an earlier study cannot be read.
    """
    if observed is None:
        return Elsewhere()
    entries = [observed] if _is_source(observed) else listed(observed, "observed")
    sources = [entry if isinstance(entry, Earlier) else Earlier(entry) for entry in entries if _is_source(entry)]
    pairs = _checked_pairs([entry for entry in entries if not _is_source(entry)], settings)
    return Elsewhere(pairs, _earlier(sources, settings, objective_of(fun), study))


def _is_source(entry: Any) -> bool:
    known = isinstance(entry, str | os.PathLike | Earlier | Found | Study | Core)
    return known or is_frame(entry) or is_trials(entry)


def _earlier(
    sources: Sequence[Earlier], settings: Settings, objective: Objective, study: str | os.PathLike[str] | None
) -> list[tuple[Observation, ...]]:
    for each in sources:
        _require_another(each.source, study)
    tables = [each.table() for each in sources]
    names = set(settings.space.parameters).union(*(table.names for table in tables))
    found = []
    for each, table in zip(sources, tables, strict=True):
        _require_alike(table, settings, objective)
        fit = fitted(
            table,
            settings.space,
            _checked_given(each.given or {}, settings, names),
            names_of(settings.limits),
        )
        if not fit.observations:
            raise InvalidInput(str(fit))
        (logger.warning if fit.left_out or fit.ignored else logger.info)(str(fit))
        found.append(fit.observations)
    return found


def _require_another(source: Any, study: str | os.PathLike[str] | None) -> None:
    if study is not None and isinstance(source, str | os.PathLike) and Path(source).resolve() == Path(study).resolve():
        raise InvalidInput(f"{source} is the study itself, which knows its own results: leave it out of observed.")


def _require_alike(table: Table, settings: Settings, objective: Objective) -> None:
    """Refuse values that mean the opposite; say it if they are values of another function."""
    if table.maximize is not None and table.maximize != settings.maximize:
        was, now = ("maximized", "minimizes") if table.maximize else ("minimized", "maximizes")
        raise InvalidInput(
            f"{table.name} was {was} and this call {now}: its best would be the worst here. Leave it out, or say the "
            "same in both (maximize, --maximize)."
        )
    change = None if table.objective is None else objective.change_from(table.objective)
    if change is not None:
        logger.warning(f"{table.name} was made for {change}. Its values are taken for values of this function.")


def _checked_given(given: Mapping[str, Any], settings: Settings, names: set[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"given must be a dict of values by parameter, got {given!r}.")
    checked = {}
    for name, value in given.items():
        if name not in names:
            raise UnknownName("parameter in given", name, names)
        with naming(name):
            parameter = settings.space.parameters.get(name)
            value = value_from(parameter, value) if parameter and isinstance(value, str) else value
            checked[name] = parameter.check(value) if parameter else value
    return checked


def _checked_pairs(entries: Sequence[Any], settings: Settings) -> list[tuple[Any, ...]]:
    """The points and values observed elsewhere; refused before any file is touched if one cannot be used."""
    core, pairs = Core(settings), []
    for k, entry in enumerate(entries):
        try:
            x, y, *measured = entry
        except (TypeError, ValueError):
            measured = [None, None]
        if len(measured) > 1 or not all(isinstance(each, Mapping) for each in measured):
            raise InvalidInput(f"observed must hold pairs of a point and its value; entry {k} is {entry!r}.")
        try:
            core.observation(x, y, *measured)
        except InvalidInput as error:
            raise InvalidInput(f"observed, entry {k}: {error}") from None
        pairs.append((x, y, *measured))
    return pairs
