"""The rules that stop early as a pruner for Optuna, beside any sampler."""

from __future__ import annotations

from optuna import Study
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial

from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_curves import curves_of
from aegisbo.integrations.optuna_history import direction_of
from aegisbo.integrations.optuna_storage import all_trials, mark_stopped
from aegisbo.options import step
from aegisbo.stopping.rule import objection, rule_named


class AegisPruner(BasePruner):
    """Stop trials of Optuna that fall behind in what they report, as `stop_early` does in aegisbo's own runs.

    It decides by the intermediate values that the study's storage holds, and keeps no state. So threads and processes
    can share a study. It never stops the first trial, nor one whose last value is the best. It works with any sampler;
    `AegisSampler` learns where the trials that it stopped would probably have ended. Call `trial.should_prune` after
    each `trial.report`.

    Args:
        rule: "ranks" for asynchronous successive halving, or "gain".
        steps: the last step that trials report. None takes that of the longest complete trial, and stops nothing
            before there is one.

    Raises:
        UnknownName: there is no such rule.
        InvalidInput: steps is not a number above 0.
    """

    def __init__(self, rule: str = "ranks", *, steps: float | None = None) -> None:
        self._rule = rule_named(rule)
        self._steps = step("steps", steps)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the trial should stop; the reason is stored as its user attribute "aegisbo:stopped".

        Raises:
            InvalidInput: the study has several directions.
        """
        if len(study.directions) > 1:
            raise InvalidInput(f"The study has {len(study.directions)} directions, and Optuna takes reports with one.")
        trials = [trial if each.number == trial.number else each for each in all_trials(study)]
        reason = objection(self._rule, trial.number, curves_of(trials, direction_of(study), self._steps))
        if reason:
            mark_stopped(study, trial, reason)
        return bool(reason)
