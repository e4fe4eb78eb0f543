"""The best value so far, by evaluation and by the time it took."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.optimizer import Trial
from aegisbo.report.record import Record


@dataclass(frozen=True)
class Step:
    """One evaluation that has ended, and the best value after it."""

    number: int  # of the trial
    evaluation: int  # which one to end, counted from 1
    elapsed: float | None  # seconds of work until then; None if nobody knows
    value: float | None  # as measured; None if it gave none
    best: float | None  # measured so far, points observed elsewhere included
    improved: bool  # it is better than everything before it


def convergence(record: Record) -> tuple[Step, ...]:
    """A step for each evaluation that has ended, in the order in which they did."""
    better = max if record.maximize else min
    limits = record.optimizer.settings.limits

    def counts(trial: Trial) -> bool:
        """Whether its value may be the best: there is one, and all limits are kept."""
        return trial.value is not None and all(limit.excess(trial.measured[limit.name]) <= 0.0 for limit in limits)

    values = [trial.value for trial in record.optimizer.observed if trial.value is not None and counts(trial)]
    best: float | None = better(values) if values else None
    steps = []
    for count, trial in enumerate(record.ended, start=1):
        improved = (
            trial.value is not None
            and counts(trial)
            and (best is None or (trial.value != best and better(trial.value, best) == trial.value))
        )
        best = trial.value if improved else best
        at = record.ended_at(trial)
        steps.append(Step(trial.number, count, None if at is None else record.elapsed(at), trial.value, best, improved))
    return tuple(steps)
