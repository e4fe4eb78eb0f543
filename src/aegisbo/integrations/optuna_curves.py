"""What Optuna's trials have reported, as curves for the rules that stop early."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from aegisbo.optimizer.direction import Direction
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves


def curve_of(trial: FrozenTrial, direction: Direction) -> Curve:
    """The reports of a trial that has made some; its end only if it is complete."""
    steps = sorted(trial.intermediate_values)
    values = [trial.intermediate_values[step] for step in steps]
    losses = [direction.turned(value) if math.isfinite(value) else math.inf for value in values]
    value = trial.value if trial.state == TrialState.COMPLETE else None
    end = None if value is None else direction.turned(value)
    runs = trial.state == TrialState.RUNNING
    return Curve(np.array(steps, dtype=np.float64), np.array(losses), end, runs)


def curves_of(trials: Sequence[FrozenTrial], direction: Direction, steps: float | None) -> Curves:
    """All curves of a study; the last step is the one told, or that of the longest complete trial."""
    alive = [trial.number for trial in trials if trial.state in (TrialState.RUNNING, TrialState.COMPLETE)]
    said = [trial for trial in trials if trial.intermediate_values]
    lasts = [max(trial.intermediate_values) for trial in said if trial.state == TrialState.COMPLETE]
    return Curves(
        {trial.number: curve_of(trial, direction) for trial in said},
        first=min(alive, default=len(trials)),
        last_step=max(lasts, default=None) if steps is None else steps,
    )
