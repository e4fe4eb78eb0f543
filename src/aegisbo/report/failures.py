"""Evaluations without a value: grouped by reason, and where in the space they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aegisbo.optimizer import Trial
from aegisbo.optimizer.failures import without_numbers
from aegisbo.outcome import FAILURES
from aegisbo.report.record import Record
from aegisbo.space.parameters import Choice, Parameter

FEWEST = 4  # failures of which can be said where they lie
MOST_OF_THEM = 0.8  # share of the failures that a region must hold
DENSER = 2.0  # times as many of the evaluations fail inside as outside


@dataclass(frozen=True)
class FailureGroup:
    """Evaluations that ended without a value for the same reason, but for numbers in it."""

    reason: str  # of the first
    state: str
    numbers: tuple[int, ...]  # of the trials
    seconds: float  # that they took together


@dataclass(frozen=True)
class Region:
    """One end of a parameter's range, or one choice, where most failures lie."""

    parameter: str
    text: str  # such as "lr ≥ 0.03"
    failed: int  # evaluations that failed inside
    inside: int  # evaluations inside


def failure_groups(record: Record) -> tuple[FailureGroup, ...]:
    """The failures by reason, the most frequent first."""
    groups: dict[str, list[Trial]] = {}
    for trial in record.trials:
        if trial.state in FAILURES:
            groups.setdefault(without_numbers(trial.reason or trial.state), []).append(trial)
    found = [
        FailureGroup(
            same[0].reason or same[0].state,
            same[0].state,
            tuple(trial.number for trial in same),
            sum(trial.seconds or 0.0 for trial in same),
        )
        for same in groups.values()
    ]
    return tuple(sorted(found, key=lambda group: -len(group.numbers)))


def failure_region(record: Record) -> Region | None:
    """Where most failures lie, if one parameter alone tells it; None if not."""
    failed = [trial for trial in record.ended if trial.state in FAILURES]
    done = [trial for trial in record.ended if trial.state == "done"]
    if len(failed) < FEWEST or not done:
        return None
    regions = [
        region
        for name, parameter in record.optimizer.space.parameters.items()
        for region in _regions(name, parameter, failed, done)
        if region.failed >= MOST_OF_THEM * len(failed)
        and region.failed * (len(failed) + len(done) - region.inside)
        >= DENSER * (len(failed) - region.failed) * region.inside
        and region.inside < 0.75 * (len(failed) + len(done))
    ]
    return max(regions, key=lambda region: region.failed / region.inside, default=None)


def _regions(name: str, parameter: Parameter, failed: Sequence[Trial], done: Sequence[Trial]) -> Iterator[Region]:
    bad, good = ([trial.params[name] for trial in trials] for trials in (failed, done))
    if isinstance(parameter, Choice):
        for value in parameter.values:
            inside = bad.count(value)
            if inside:
                yield Region(name, f"{name} = {value}", inside, inside + good.count(value))
        return
    enough = int(np.ceil(MOST_OF_THEM * len(bad)))
    least, most = sorted(bad)[len(bad) - enough], sorted(bad)[enough - 1]
    for sign, limit in (("≥", least), ("≤", most)):
        inside, passed = (
            sum((value >= limit) if sign == "≥" else (value <= limit) for value in some) for some in (bad, good)
        )
        yield Region(name, f"{name} {sign} {limit:.4g}", inside, inside + passed)
