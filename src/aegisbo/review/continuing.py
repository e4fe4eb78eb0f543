"""How to continue a study: the call that began it, with everything that the study knows about it."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from aegisbo.events import Joined, Left
from aegisbo.number import as_whole
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.policy import default_initial
from aegisbo.options import CHANGEABLE, OF_A_COPY, OPTIONS, SETTINGS
from aegisbo.review.record import Record
from aegisbo.space.expression import Expression
from aegisbo.strategies.registry import DEFAULT_PRESET
from aegisbo.study.stored_function import HASH

PLACE = ("executor", "threads_per_worker")  # where evaluations ran, if the call said so
USUAL = {name: each.default for name, each in OPTIONS.items()}  # the defaults of a call


def calls_of(record: Record) -> list[str]:
    """How to continue the study and look at it, from its folder."""
    if record.path is None or record.state is None:
        return []
    shared = isinstance(record.state.drivers.last, Joined | Left)
    again = _copy(record, record.path.name) if shared else _call(record, record.path.name)
    return [again, f"aegisbo show {quote(record.path.name)}"]


def _call(record: Record, study: str) -> str:
    """The Python call of `minimize`, ready to paste; a function of a script must already be defined."""
    known = _scope(record) | {name: record.call[name] for name in PLACE if name in record.call}
    given = {**_news(known, {**USUAL, "executor": "processes"}), "study": study}
    options = {name: repr(value) for name, value in given.items()} | _settings(record)
    imported, name = _objective(record)
    lines = [f"    {name},", *_space(record), *(f"    {option}={text}," for option, text in options.items())]
    return "\n".join(["import aegisbo", *imported, "", "aegisbo.minimize(", *lines, ")"])


def _copy(record: Record, study: str) -> str:
    """The command that adds a copy, which finds the function and the settings in the study."""
    news = _news(_scope(record), USUAL | OF_A_COPY)
    options = (f"--{name.replace('_', '-')} {quote(str(value or 0))}" for name, value in news.items())
    found = "" if {"function", "command"} & {*record.call} else " module:function"
    return f"aegisbo work {quote(study)}{found} {' '.join(options)}"


def _scope(record: Record) -> dict[str, Any]:
    """The budget; doubled if it is spent."""
    scope = {name: record.call[name] for name in CHANGEABLE if name in record.call}
    budget = as_whole(record.state and record.state.ledger.budget, 1) or len(record.ended)
    workers = scope.get("workers") or record.capacity or None
    return {**scope, "budget": 2 * budget if len(record.ended) >= budget else budget, "workers": workers}


def _news(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults."""
    return {name: value for name, value in given.items() if value != usual[name]}


def _objective(record: Record) -> tuple[list[str], str]:
    """The import lines, and the name of the function in a call."""
    call = record.call
    if "command" in call:
        texts = [repr(text) for text in (call["command"], call.get("value_file")) if text is not None]
        return [], f"aegisbo.Command({', '.join(texts)})"
    if "function" in call:
        module, _, name = str(call["function"]).partition(":")
        return [f"from {module} import {name}"], name
    source = record.state.objective.get("source") if record.state and record.state.objective else None
    if record.objective == "<lambda>" and isinstance(source, str) and not source.startswith(HASH):
        return [], source
    return [], record.objective or "function"


def _space(record: Record) -> list[str]:
    """The parameters as an argument, one in each line."""
    space = record.optimizer.space
    first, last = "{}" if space.named else "[]"
    names = [f"{name!r}: " if space.named else "" for name in space.parameters]
    parameters = [f"        {name}aegisbo.{p!r}," for name, p in zip(names, space.parameters.values(), strict=True)]
    return [f"    {first}", *parameters, f"    {last},"]


def _settings(record: Record) -> dict[str, str]:
    """The settings of the choices that differ from the defaults of `minimize`."""
    settings, space = record.optimizer.settings, record.optimizer.space
    initial = list(settings.initial or ())
    usual = len(initial) or default_initial(space.cube.parameters)
    known = {name: getattr(settings, name, ()) for name in SETTINGS} | {
        "strategy": settings.strategy if settings.text is None else settings.text,
        "preset": None if settings.preset == DEFAULT_PRESET else settings.preset,
        "n_initial": None if settings.n_initial == usual else settings.n_initial,
        "initial": initial or None,
        "limits": [limit.text for limit in settings.limits] or (),
        "objectives": (),  # see below
        "stop_early": settings.stop_early or False,
    }
    texts = {name: repr(value) for name, value in known.items() if value != SETTINGS[name].default}
    if settings.objectives:
        texts["objectives"] = f"{{{', '.join(map(_of_objective, settings.objectives))}}}"
    rules = [repr(rule.text) if isinstance(rule, Expression) else rule.name for rule in space.constraints]
    return texts | ({"constraints": f"[{', '.join(rules)}]"} if rules else {})


def _of_objective(objective: Objective) -> str:
    """An entry of the argument `objectives`; a function of the parameters must already be defined, or be imported."""
    direction = "'max'" if objective.maximize else "'min'"
    known = direction if objective.known is None else f"({direction}, {objective.known.name})"
    return f"{objective.name!r}: {known}"
