"""Go on with aegisbo's own optimizer where an Optuna study has ended."""

from __future__ import annotations

import math

from optuna import Study
from optuna.search_space import intersection_search_space
from optuna.study import StudyDirection

from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_history import refuse_constraints, refuse_several_objectives
from aegisbo.integrations.optuna_space import SearchSpace, to_choose
from aegisbo.optimizer import Optimizer
from aegisbo.strategies.base import Strategy


def from_optuna(
    study: Study,
    *,
    strategy: str | Strategy = "aegis",
    preset: str | None = None,
    seed: int | None = None,
    n_initial: int = 0,
) -> Optimizer:
    """An optimizer that has observed the finished trials of a study.

    Args:
        study: its space is what its completed trials have in common; parameters with a single value are left out.
        strategy: as for `Optimizer`; the same holds for `preset` and `seed`.
        preset: which variant of a named strategy.
        seed: decides all random numbers.
        n_initial: how many points to spread out before the strategy takes over; by default the study's must do.

    Returns:
        The optimizer, ready to be asked.

    Raises:
        InvalidInput: the study has several objectives or constraints, or its trials share no parameter.
    """
    refuse_several_objectives(study)
    trials = study.get_trials(deepcopy=False)
    refuse_constraints(trials)
    kinds = to_choose(intersection_search_space(trials))
    if not kinds:
        raise InvalidInput(f"The completed trials of study {study.study_name!r} have no parameter in common.")
    optimizer = Optimizer(
        dict(kinds),
        strategy=strategy,
        preset=preset,
        seed=seed,
        n_initial=n_initial,
        maximize=study.direction == StudyDirection.MAXIMIZE,
    )
    space = SearchSpace(kinds)
    for trial in trials:
        if trial.state.is_finished() and space.point(trial.params) is not None:
            value = math.nan if trial.value is None else trial.value
            optimizer.observe({name: trial.params[name] for name in kinds}, value)
    return optimizer
