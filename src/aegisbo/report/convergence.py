"""The best value so far, by evaluation and by the time it took."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.optimizer.limits import broken_by
from aegisbo.report.record import Record


@dataclass(frozen=True)
class Step:
    """One evaluation that has ended, and the best value after it."""

    number: int  # of the trial
    evaluation: int  # which one to end, counted from 1
    elapsed: float | None  # seconds of work until then; None if unknown
    value: float | None  # as measured; None if there is none
    counts: bool  # its value may be the best: there is one, and all limits are kept
    best: float | None  # measured so far, points observed elsewhere included
    improved: bool  # it is better than everything before it
    gain: float  # by how much; 0 if nothing came before it


def convergence(record: Record) -> tuple[Step, ...]:
    """A step for each evaluation that has ended, in the order of their ends."""
    better = max if record.maximize else min
    limits, broken = record.optimizer.settings.limits, record.optimizer.space.broken
    observed = [trial for trial in record.optimizer.observed if not (broken_by(trial, limits) or broken(trial.params))]
    values = [trial.value for trial in observed if trial.value is not None]
    best: float | None = better(values) if values else None
    steps = []
    for count, trial in enumerate(record.ended, start=1):
        value = None if broken_by(trial, limits) else trial.value  # that counts
        improved = value is not None and (best is None or (value != best and better(value, best) == value))
        gain = 0.0
        if value is not None and improved:
            gain, best = 0.0 if best is None else abs(value - best), value
        at = record.ended_at(trial)
        elapsed = None if at is None else record.elapsed(at)
        steps.append(Step(trial.number, count, elapsed, trial.value, value is not None, best, improved, gain))
    return tuple(steps)
