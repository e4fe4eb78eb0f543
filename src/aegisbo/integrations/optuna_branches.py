"""Studies with branches that nobody can tell from their trials: what the model cannot see there, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from aegisbo.integrations.optuna_conditions import conditions_of
from aegisbo.optimizer.policy import default_initial

REMEDY = (
    "Let the values of other parameters alone decide whether it is suggested, always with the same range, or let every "
    "trial suggest all parameters and ignore those that it does not need."
)


def objection(
    trials: Sequence[FrozenTrial], modeled: Mapping[str, BaseDistribution], *, given: bool, n_initial: int | None
) -> str | None:
    """Why the model misses what completed trials tell; None if it does not, or if it would not be asked yet.

    Args:
        trials: of the study.
        modeled: the parameters that the model knows.
        given: whether the user named them; if not, they are those of completed trials with one range, each in all
            of them or under conditions that the trials show.
        n_initial: how many trials come before the model; None for the default.
    """
    kinds = [trial.distributions for trial in trials if trial.state == TrialState.COMPLETE]
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
        what = f"Nobody can tell when these parameters are suggested, or with which range: {', '.join(lacking)}"
        known = f"only {', '.join(sorted(modeled))}" if modeled else "none"
        so = f"they are drawn at random; the model knows {known}"
    return f"{what}. In AegisSampler {so}. {REMEDY}" if lacking else None
