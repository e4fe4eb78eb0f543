"""Evaluations without a value: grouped by reason, and where in the space they lie."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegisbo.optimizer import Trial
from aegisbo.optimizer.failure_reasons import by_reason, reason_of
from aegisbo.review.record import Record
from aegisbo.space.parameters import Choice, Parameter

FEWEST = 3  # failures needed to say where they lie
MOST_OF_THEM = 0.8  # share of the failures that a region must hold
DENSE = 0.5  # share of the evaluations in a region that must have failed so


@dataclass(frozen=True)
class Region:
    """One end of a parameter's range, or one choice, where most failures lie."""

    text: str  # such as "lr ≥ 0.03"
    failed: int  # such failures inside
    inside: int  # evaluations inside


@dataclass(frozen=True)
class FailureGroup:
    """Evaluations that ended without a value for the same reason, up to numbers in it."""

    reason: str  # of the first
    state: str
    numbers: tuple[int, ...]  # of the trials
    seconds: float  # taken together
    region: Region | None  # where most of them lie, if one parameter alone shows it


def failure_groups(record: Record) -> tuple[FailureGroup, ...]:
    """The failures by reason, the most frequent first."""
    return tuple(
        FailureGroup(
            reason_of(same[0]),
            same[0].state,
            tuple(trial.number for trial in same),
            sum(trial.seconds or 0.0 for trial in same),
            _region_of(same, record),
        )
        for same in by_reason(record.trials)
    )


def _region_of(failed: Sequence[Trial], record: Record) -> Region | None:
    """Where most of these lie and little else: one end of a parameter's range, or one choice."""
    numbers = {trial.number for trial in failed}
    others = [trial for trial in record.ended if trial.number not in numbers]
    if len(failed) < FEWEST or len(others) < len(failed):
        return None
    regions = [
        region
        for name, parameter in record.optimizer.space.parameters.items()
        for region in _regions(name, parameter, failed, others)
        if region.failed >= MOST_OF_THEM * len(failed) and region.failed >= DENSE * region.inside
    ]
    return max(regions, key=lambda region: region.failed / region.inside, default=None)


def _regions(name: str, parameter: Parameter, failed: Sequence[Trial], others: Sequence[Trial]) -> Iterator[Region]:
    bad, good = ([trial.params[name] for trial in trials if name in trial.params] for trials in (failed, others))
    if len(bad) < len(failed):  # some failures lack the parameter, so it is not the cause
        return
    if isinstance(parameter, Choice):
        for value in dict.fromkeys(bad):
            yield Region(f"{name} = {value}", bad.count(value), bad.count(value) + good.count(value))
        return
    ordered, enough = sorted(bad), math.ceil(MOST_OF_THEM * len(bad))
    for sign, limit, holds in (("≥", ordered[-enough], operator.ge), ("≤", ordered[enough - 1], operator.le)):
        inside, passed = (sum(holds(value, limit) for value in values) for values in (bad, good))
        yield Region(f"{name} {sign} {limit:.4g}", inside, inside + passed)
