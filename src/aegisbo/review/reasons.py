"""What each kind of move gained, and how good the predictions were."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aegisbo.number import as_number
from aegisbo.optimizer import Trial
from aegisbo.optimizer.prediction import WIDE
from aegisbo.optimizer.trial import move_of
from aegisbo.outcome import FAILURES
from aegisbo.review.convergence import convergence
from aegisbo.review.record import Record


@dataclass(frozen=True)
class Yield:
    """What one kind of move gained."""

    move: str
    chosen: int  # points
    done: int  # of them have a value
    failed: int
    improved: int  # gave a new best value, or added hypervolume
    gain: float  # total improvement of the best value, or hypervolume added
    seconds: float  # of their evaluations


@dataclass(frozen=True)
class CheckedPrediction:
    """What was predicted for a point before it was measured, and what was measured."""

    number: int
    mean: float
    std: float
    value: float

    @property
    def z(self) -> float:
        """How far off it was, in standard deviations, which are 0 where values differ only by rounding."""
        away = self.value - self.mean
        return away / self.std if self.std > 0.0 else math.copysign(math.inf, away) if away else 0.0


@dataclass(frozen=True)
class Calibration:
    """How well predictions hold: 95 % of the values should lie within the 95 % band."""

    count: int
    within: float  # share of the values within that band
    error: float  # median distance between prediction and value
    spread: float  # median distance of the values from their median: the error without a model


def yields(record: Record) -> tuple[Yield, ...]:
    """What each kind of move gained, in order of first use."""
    gains = {step.number: step.gain for step in convergence(record) if step.improved}
    moves: dict[str, list[Trial]] = {}
    for trial in record.trials:
        moves.setdefault(move_of(trial), []).append(trial)
    return tuple(
        Yield(
            move,
            len(trials),
            sum(trial.state == "done" for trial in trials),
            sum(trial.state in FAILURES for trial in trials),
            sum(trial.number in gains for trial in trials),
            sum(gains.get(trial.number, 0.0) for trial in trials),
            sum(trial.seconds or 0.0 for trial in trials),
        )
        for move, trials in moves.items()
    )


def predictions(record: Record, objective: str | None = None) -> tuple[CheckedPrediction, ...]:
    """The prediction when each point was chosen, for all points that now have a value."""
    found = []
    for trial in record.ended:
        value = trial.value if objective is None else trial.measured.get(objective)
        mean, std = (noted(trial, name, objective) for name in ("mean", "std"))
        if value is not None and mean is not None and std is not None and std > 0.0:
            found.append(CheckedPrediction(trial.number, mean, std, value))
    return tuple(found)


def noted(trial: Trial, name: str, objective: str | None = None) -> float | None:
    """A number that was noted when the point was chosen; of several objectives, that of the one named."""
    told = trial.note.get(name)
    return as_number(told if objective is None else told.get(objective) if isinstance(told, Mapping) else None)


def calibration(found: Sequence[CheckedPrediction]) -> Calibration | None:
    """How well these predictions hold; None without any."""
    if not found:
        return None
    values = sorted(each.value for each in found)
    middle = values[len(values) // 2]
    errors = sorted(abs(each.value - each.mean) for each in found)
    spreads = sorted(abs(value - middle) for value in values)
    half = len(found) // 2
    return Calibration(len(found), sum(abs(each.z) <= WIDE for each in found) / len(found), errors[half], spreads[half])
