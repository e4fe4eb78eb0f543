"""What evaluations reported while they ran: their curves, what stopping them spared, and which stops were doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import numpy as np

from aegisbo.optimizer import Trial
from aegisbo.outcome import Report
from aegisbo.review.conflicts import rank_correlation
from aegisbo.review.record import Record
from aegisbo.study.known_then import StopMade

MOST = 64  # points of a curve that are drawn; fewer if there are many curves
ALL = 20_000  # points of all curves together, about
FEWEST = 4  # points of a curve, however many curves there are
LISTED = 10  # doubtful stops
DOUBTFUL = 0.01  # least chance of one
MISTAKEN = 0.5  # chance beyond which a stop was probably a mistake

Item = TypeVar("Item")


@dataclass(frozen=True)
class Spared:
    """What stopping evaluations early has spared."""

    stopped: int  # evaluations whose time is known
    took: float  # seconds, all of them together
    full: float  # seconds that an evaluation with a value took: the median
    seconds: float  # that stopped ones would have taken beyond that, if they had taken as long; 0 for longer ones


@dataclass(frozen=True)
class Foretelling:
    """How well reports foretell the end."""

    correlation: float  # of the ranks of values at this step with those at the end
    count: int  # evaluations with a value that had reported there
    step: float  # the middle one of those at which evaluations were stopped, or else a third of all


def reporting_trials(record: Record) -> list[Trial]:
    """The trials that have a curve, by number."""
    return [trial for trial in record.trials if trial.reports and trial.state != "forgotten"]


def stopped_trials(record: Record) -> list[Trial]:
    """The trials that were stopped early, by number."""
    return [trial for trial in record.trials if trial.state == "stopped"]


def spared(record: Record) -> Spared | None:
    """The time that stopping has spared; None if nothing was stopped, or no time is known to compare with."""
    took = [trial.seconds for trial in stopped_trials(record) if trial.seconds is not None]
    whole = [trial.seconds for trial in record.trials if trial.state == "done" and trial.seconds is not None]
    if not (took and whole):
        return None
    full = median(whole)
    return Spared(len(took), sum(took), full, sum(max(full - seconds, 0.0) for seconds in took))


def doubtful_stops(record: Record) -> list[Trial]:
    """Stopped trials that would perhaps have ended better than the best, as far as known now, the likeliest first."""
    ends = record.expected_ends
    found = [trial for trial in stopped_trials(record) if trial.number in ends and ends[trial.number].chance > DOUBTFUL]
    return sorted(found, key=lambda trial: -ends[trial.number].chance)


def mistaken_stops(record: Record) -> list[Trial]:
    """Stopped trials that would probably have ended better than the best, the likeliest first."""
    return [trial for trial in doubtful_stops(record) if record.expected_ends[trial.number].chance > MISTAKEN]


def foretelling(record: Record) -> Foretelling | None:
    """How well reports foretell the end; None if fewer than three evaluations can tell."""
    lasts = [trial.reports[-1].step for trial in stopped_trials(record) if trial.reports]
    last = record.optimizer.last_step
    if last is None or record.objectives:
        return None
    step = median(lasts) if lasts else last / 3.0
    pairs = []
    for trial in record.trials:
        said = np.array([(each.step, each.value) for each in trial.reports if each.value is not None], dtype=np.float64)
        if trial.state == "done" and len(said) and said[0, 0] <= step < said[-1, 0]:
            pairs.append((np.interp(step, *said.T), trial.value))
    if len(pairs) < 3:
        return None
    found = rank_correlation(*np.array(pairs, dtype=np.float64).T)
    return None if found is None else Foretelling(found, len(pairs), step)


def thinned(items: Sequence[Item], most: int) -> Sequence[Item]:
    """The items if they are at most `most`, else every second, fourth or eighth one, and so on, and the last.

    As more come in, those that are left mostly stay the same, so that little of a live page changes.
    """
    stride = 1
    while len(items) > stride * most:
        stride *= 2
    return [*items[:-1:stride], *items[-1:]]


def drawn_reports(trials: Sequence[Trial]) -> list[Sequence[Report]]:
    """The reports of each trial that a picture of all of them shows."""
    most = MOST
    while most > FEWEST and len(trials) * most > ALL:
        most //= 2
    return [thinned(trial.reports, most) for trial in trials]


def curve_facts(record: Record) -> dict[str, Any] | None:
    """What a page says of curves; None if nothing was reported or stopped."""
    trials = reporting_trials(record)
    if not (trials or stopped_trials(record)):
        return None
    drawn = drawn_reports(trials)
    return {
        "number": [trial.number for trial in trials],
        "reports": [len(trial.reports) for trial in trials],
        "steps": [[report.step for report in reports] for reports in drawn],
        "values": [[report.value for report in reports] for reports in drawn],
        "last_step": record.optimizer.last_step,
        "ends": {str(number): list(end) for number, end in record.expected_ends.items()},
        "stops": {str(number): _known_then(stop) for number, stop in record.stops.items()},
        "doubtful": [trial.number for trial in doubtful_stops(record)[:LISTED]],
        "spared": spared(record),
    }


def _known_then(stop: StopMade) -> dict[str, Any]:
    """What a decision to stop knew."""
    report = {} if stop.report is None else stop.report._asdict()
    return {"known": stop.known, "others": stop.others, **report}
