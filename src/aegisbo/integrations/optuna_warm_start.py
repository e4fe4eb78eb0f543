"""Continue an Optuna study with aegisbo's own optimizer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial

from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_conditions import conditions_of, joint_space
from aegisbo.integrations.optuna_history import direction_of
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.optimizer.direction import Direction
from aegisbo.public.optimizer_and_result import Optimizer
from aegisbo.space.description import parameter_from_entry
from aegisbo.space.parameters import Parameter, When
from aegisbo.strategies.base import Strategy


def from_optuna(
    study: Study,
    *,
    strategy: str | Strategy = "aegis",
    preset: str | None = None,
    seed: int | None = None,
    n_initial: int = 0,
) -> Optimizer:
    """Make an optimizer that knows the finished trials of an Optuna study.

    Args:
        study: the space is that of its completed trials. If some of them lack a parameter, its conditions are derived
            from them. Parameters with a single value or several ranges are left out. Several directions become
            objectives, with the names of the study's metrics, or else values_0, values_1 and so on.
        strategy: as for `Optimizer`; the same holds for `preset` and `seed`.
        preset: the variant of a strategy given by name.
        seed: makes all random numbers repeatable.
        n_initial: how many points to spread over the space before the strategy takes over; by default none.

    Returns:
        The optimizer, ready for `ask`.

    Raises:
        InvalidInput: the study has constraints or more than four directions, the name of a metric cannot be that of
            an objective, or the trials share no parameter.
    """
    direction = direction_of(study)
    trials = study.get_trials(deepcopy=False)
    for trial in trials:
        if trial.constraints:
            raise InvalidInput(
                f"from_optuna carries no constraints over, and trial {trial.number} has set "
                f"{sorted(trial.constraints)}: continue with AegisSampler, which knows them."
            )
    kinds = joint_space(trials)
    if not kinds:
        raise InvalidInput(f"The completed trials of study {study.study_name!r} have no parameter in common.")
    conditions = conditions_of(trials, kinds)
    pairs: Any = [(each.name, "max" if each.maximize else "min") for each in direction.objectives]
    optimizer = Optimizer(
        {name: _parameter(name, kinds, conditions.get(name)) for name in kinds},
        strategy=strategy,
        preset=preset,
        seed=seed,
        n_initial=n_initial,
        maximize=direction.maximize,
        objectives=pairs,
    )
    space = SearchSpace(kinds, conditions)
    for trial in trials:
        if trial.state.is_finished() and (x := space.point(trial.params)) is not None:
            there = space.params(x)  # a trial that failed early may lack some; then it is ignored
            if set(there) <= set(trial.params):
                optimizer.observe({name: trial.params[name] for name in there}, _told(trial, direction))
    return optimizer


def _told(trial: FrozenTrial, direction: Direction) -> Any:
    """What a trial gave, as an optimizer is told of it; NaN if it gave nothing."""
    if not direction.several:
        return math.nan if trial.value is None else trial.value
    values = trial.values or [math.nan] * direction.several
    return {each.name: value for each, value in zip(direction.objectives, values, strict=True)}


def _parameter(name: str, kinds: Mapping[str, BaseDistribution], when: When | None) -> Parameter:
    """The parameter with its conditions, which refer to categories by their inner number."""
    parameter = parameter_from_entry(name, kinds[name])
    if when is None:
        return parameter
    return replace(parameter, when={parent: _wanted(kinds[parent], wanted) for parent, wanted in when.items()})


def _wanted(kind: BaseDistribution, wanted: Any) -> Any:
    return [kind.choices[number] for number in wanted] if isinstance(kind, CategoricalDistribution) else wanted
