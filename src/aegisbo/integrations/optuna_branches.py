"""Studies whose trials differ in their parameters: what the model cannot see there, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from optuna.trial import FrozenTrial, TrialState

from aegisbo.optimizer.policy import default_initial

REMEDY = (
    "Let every trial suggest all parameters and ignore those that it does not need, make one study for each branch, or "
    "use a sampler that models branches, such as optuna.samplers.TPESampler(multivariate=True, group=True)."
)


def objection(
    trials: Iterable[FrozenTrial], modeled: Collection[str], *, given: bool, n_initial: int | None
) -> str | None:
    """Why the model misses what completed trials tell; None if it does not, or if it would not be asked yet.

    Args:
        trials: of the study.
        modeled: the parameters that the model knows.
        given: whether the user named them; if not, they are those that all completed trials have in common.
        n_initial: how many trials come before the model; None for the default.
    """
    kinds = [trial.distributions for trial in trials if trial.state == TrialState.COMPLETE]
    names = {name for kind in kinds for name, distribution in kind.items() if not distribution.single()}
    if len(kinds) < (default_initial(len(names)) if n_initial is None else n_initial):
        return None
    if given:
        lacking = sorted({name for kind in kinds for name in modeled if name not in kind})
        useless = sum(any(name not in kind for name in modeled) for kind in kinds)
        what = f"{useless} of {len(kinds)} completed trials lack parameters of search_space ({', '.join(lacking)})"
        so = "the model learns nothing from these trials"
    else:
        lacking = sorted(names.difference(modeled))
        what = f"These parameters are not in every completed trial with the same range: {', '.join(lacking)}"
        known = f"only {', '.join(sorted(modeled))}" if modeled else "none"
        so = f"they are drawn at random; the model knows {known}"
    return f"{what}. In AegisSampler {so}. {REMEDY}" if lacking else None
