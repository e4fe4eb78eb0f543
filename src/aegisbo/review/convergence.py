"""The best value so far, or the hypervolume of several objectives, by evaluation and by the time it took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from aegisbo.optimizer.limits import broken_by
from aegisbo.optimizer.several import Several
from aegisbo.optimizer.trial import Trial
from aegisbo.review.record import Record


@dataclass(frozen=True)
class Step:
    """One evaluation that has ended, and the best value after it; of several objectives, the hypervolume."""

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
    return tuple(_of_front(record) if record.objectives else _of_values(record))


def _of_values(record: Record) -> Iterator[Step]:
    better = max if record.maximize else min
    limits, broken = record.optimizer.settings.limits, record.optimizer.space.broken
    observed = [trial for trial in record.optimizer.observed if not (broken_by(trial, limits) or broken(trial.params))]
    values = [trial.value for trial in observed if trial.value is not None]
    best: float | None = better(values) if values else None
    for count, trial in enumerate(record.ended, start=1):
        value = None if broken_by(trial, limits) else trial.value  # that counts
        improved = value is not None and (best is None or (value != best and better(value, best) == value))
        gain = 0.0
        if value is not None and improved:
            gain, best = 0.0 if best is None else abs(value - best), value
        yield Step(trial.number, count, _elapsed(record, trial), trial.value, value is not None, best, improved, gain)


def _of_front(record: Record) -> Iterator[Step]:
    """Up to the reference point of the result; nothing comes before the first evaluation but what was observed."""
    several = cast("Several", record.result.several)
    observed = replace(several, losses={number: loss for number, loss in several.losses.items() if number < 0})
    before = observed.hypervolume(record.ended[:1], several.reference)
    volumes = several.hypervolume(record.ended)
    gains = np.diff(np.concatenate([before, volumes])).tolist()
    for count, (trial, volume, gain) in enumerate(zip(record.ended, volumes.tolist(), gains, strict=True), start=1):
        value, counts = volume if trial.state == "done" else None, trial.number in several.losses
        gain, elapsed = max(gain, 0.0), _elapsed(record, trial)
        yield Step(trial.number, count, elapsed, value, counts, volume or None, gain > 0.0, gain)


def _elapsed(record: Record, trial: Trial) -> float | None:
    at = record.ended_at(trial)
    return None if at is None else record.elapsed(at)
