"""Conditions derived from trials: when an objective asks for a parameter.

Optuna's objectives decide while they run which parameters they ask for. If the values of other parameters separate the
completed trials that have a parameter from those that lack it, these values are its conditions, until other trials
contradict. Where there are no trials yet, a parameter is assumed to exist: an unused value does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from aegisbo.integrations.optuna_space import inner_parameter, inner_value, to_choose
from aegisbo.optimizer.policy import default_initial
from aegisbo.space.parameters import Choice, Int, Parameter, When, sweep

REMEDY = (
    "Let the values of other parameters alone decide whether it is suggested, always with the same range, or let every "
    "trial suggest all parameters and ignore those that it does not need."
)
FEW = 64  # levels of an integer that are distinguished one by one

Row = Mapping[str, Any]  # the inner values of a trial, by name


def joint_space(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distributions that can be modeled together: with one range, and in all completed trials or by conditions."""
    kinds: dict[str, BaseDistribution] = {}
    changing = set()
    for trial in _completed(trials):
        for name, kind in trial.distributions.items():
            changing |= {name} if kinds.setdefault(name, kind) != kind else set()
    space = to_choose({name: kind for name, kind in kinds.items() if name not in changing})
    while untold := [name for name, when in conditions_of(trials, space).items() if when is None]:
        space = {name: kind for name, kind in space.items() if name not in untold}
    return space


def conditions_of(trials: Sequence[FrozenTrial], space: Mapping[str, BaseDistribution]) -> dict[str, When | None]:
    """The conditions, in inner values, of each parameter that some completed trial lacks; None if unclear."""
    completed = _completed(trials)
    sometimes = [name for name in space if any(name not in trial.params for trial in completed)]
    if not sometimes:
        return {}
    rows = [row for trial in completed if (row := _row(trial, space)) is not None]
    parameters = {name: inner_parameter(kind) for name, kind in space.items()}
    return {name: _conditions(name, rows, parameters) for name in sometimes}


def objection(
    trials: Sequence[FrozenTrial], modeled: Mapping[str, BaseDistribution], *, given: bool, n_initial: int | None
) -> str | None:
    """Why a model of these parameters misses part of the completed trials; None if it does not, or is not used yet.

    If the user has not given them, they are those of the `joint_space`.
    """
    kinds = [trial.distributions for trial in _completed(trials)]
    names = {name for kind in kinds for name, distribution in kind.items() if not distribution.single()}
    if len(kinds) < (default_initial(len(names)) if n_initial is None else n_initial):
        return None
    if given:
        lacking = sorted(name for name, when in conditions_of(trials, modeled).items() if when is None)
        useless = sum(any(name not in kind for name in lacking) for kind in kinds)
        what = f"{useless} of {len(kinds)} completed trials lack parameters of search_space ({', '.join(lacking)})"
        so = "the model learns nothing from these trials"
    else:
        lacking = sorted(names.difference(modeled))
        what = f"It is not clear when these parameters are suggested, or with which range: {', '.join(lacking)}"
        known = f"only {', '.join(sorted(modeled))}" if modeled else "none"
        so = f"they are drawn at random; the model knows {known}"
    return f"{what}. In AegisSampler {so}. {REMEDY}" if lacking else None


def _completed(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    return [trial for trial in trials if trial.state == TrialState.COMPLETE]


def _row(trial: FrozenTrial, space: Mapping[str, BaseDistribution]) -> Row | None:
    """The values of a trial; None if one lies outside its distribution, as an enqueued value may."""
    values = {name: inner_value(trial.params[name], kind) for name, kind in space.items() if name in trial.params}
    return None if None in values.values() else values


def _conditions(name: str, rows: Sequence[Row], parameters: Mapping[str, Parameter]) -> When | None:
    """The conditions that separate the rows with a name from those without; the one that separates most comes first.

    A parent exists in all rows that have the name, and in some that lack it. So it exists more often than its child,
    and conditions cannot form a circle.
    """
    having, lacking = ([row for row in rows if (name in row) == there] for there in (True, False))
    parents = {other for other in parameters if having and all(other in row for row in having)} - {name}
    when: dict[str, Any] = {}
    while lacking:
        best, left = None, lacking
        for other in sorted(parents - set(when), key=lambda other: (_rank(parameters[other]), other)):
            without = {row[other] for row in lacking if other in row}
            wanted = _apart({row[other] for row in having}, without, parameters[other])
            if wanted is not None and len(still := [row for row in lacking if row.get(other) in wanted[1]]) < len(left):
                best, left = (other, wanted[0]), still
        if best is None:
            return None
        when[best[0]], lacking = best[1], left
    return when


def _rank(parameter: Parameter) -> int:
    """Sort key: objectives mostly branch on a category, and hardly ever on a real number."""
    return 0 if isinstance(parameter, Choice) else 1 if isinstance(parameter, Int) else 2


def _apart(having: set[Any], lacking: set[Any], parameter: Parameter) -> tuple[Any, set[Any]] | None:
    """What holds for all values of the first and for few of the second, and for which of these; None if for all."""
    if isinstance(parameter, Choice) or (isinstance(parameter, Int) and parameter.axis.size <= FEW):
        excluded = lacking - having
        levels = [value for value in sweep(parameter, FEW) if value not in excluded]
        return (levels, lacking & having) if excluded else None
    if lacking and max(lacking) < min(having):
        return f"> {max(lacking)!r}", set()
    if lacking and min(lacking) > max(having):
        return f"< {min(lacking)!r}", set()
    return None
