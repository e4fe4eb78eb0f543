"""What simulated runs aim at: a value or, of several objectives, a hypervolume; and where that is on a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from aegisbo.advice.stand_in import StandIn
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, NoModel
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.limits import broken_by
from aegisbo.review.convergence import Step
from aegisbo.review.record import Record
from aegisbo.search.hypervolume import GrowingFront, hypervolume

CLOSE = 0.01  # share of the way from the best value to the median, or of a hypervolume: this close is as good


class Goal(Protocol):
    """What simulated runs aim at."""

    @property
    def target(self) -> float:
        """What the run itself would have to reach, as the user sees it."""

    @property
    def reference(self) -> Mapping[str, float] | None:
        """Up to which a hypervolume counts; None if the target is a value."""

    def aim(self, stand_in: StandIn) -> float:
        """What corresponds to it on a stand-in."""

    def judge(self, stand_in: StandIn, aim: float) -> Callable[[Any], bool]:
        """A function to be told of the level of each evaluation that counts: it says whether the aim is reached."""

    def reached_by(self, step: Step, aim: float) -> bool:
        """Whether the run itself had reached this much after an evaluation."""


def goal_of(record: Record, target: float | None, close: float = CLOSE) -> Goal:
    """The goal of a run; without a target, as much as it has reached but for this share.

    Raises:
        NoModel: it has reached nothing that keeps all limits.
        InvalidInput: a hypervolume is not above 0.
    """
    return (_volume if record.objectives else _value)(record, target, close)


@dataclass(frozen=True)
class Value:
    """A value, at the same share of the way from the lowest to the median value at the points of the run."""

    points: Array  # (n, width) points of the run whose values count
    losses: Array  # (n,) measured there
    loss: float  # to be reached
    direction: Direction
    reference: None = None

    @property
    def target(self) -> float:
        return self.direction.turned(self.loss)

    def aim(self, stand_in: StandIn) -> float:
        if not len(self.points):
            return self.target
        lowest, unit = float(self.losses.min()), float(np.median(self.losses) - self.losses.min())
        there = stand_in.losses(self.points)
        stretch = float(np.median(there) - there.min()) / unit if unit > 0.0 else 1.0
        return self.direction.turned(float(there.min()) + (self.loss - lowest) * stretch)

    def judge(self, stand_in: StandIn, aim: float) -> Callable[[Any], bool]:
        return lambda level: self.direction.reaches(level, aim)

    def reached_by(self, step: Step, aim: float) -> bool:
        return step.improved and step.value is not None and self.direction.reaches(step.value, aim)


def _value(record: Record, target: float | None, close: float) -> Value:
    optimizer, limits = record.optimizer, record.optimizer.settings.limits
    counting = [trial for trial in record.ended if trial.value is not None and not broken_by(trial, limits)]
    losses = optimizer.direction.turned(np.array([trial.value for trial in counting], dtype=np.float64))
    points = np.array([optimizer.space.encoded(trial.params) for trial in counting])
    loss = _close_to_best(losses, close) if target is None else optimizer.direction.turned(float(target))
    return Value(points, losses, loss, optimizer.direction)


def _close_to_best(losses: Array, close: float) -> float:  # (n,)
    """A loss nearly as good as the best of the run."""
    if not len(losses):
        raise NoModel("No evaluation of the run has a value that keeps all limits: name a target.")
    best = float(losses.min())
    return best + close * (float(np.median(losses)) - best)


@dataclass(frozen=True)
class Volume:
    """A hypervolume, the same share of what the points of the run reach, up to the reference of the run."""

    points: Array  # (n, width) points of the run that count
    elsewhere: int  # the first of them, which were observed elsewhere and count from the start
    target: float
    share: float  # of the hypervolume of the run
    reference: Mapping[str, float]
    direction: Direction

    @property
    def edge(self) -> Array:  # (m,)
        """The reference, to be minimized."""
        return self.direction.turned(np.array([*self.reference.values()]))

    def aim(self, stand_in: StandIn) -> float:
        return self.share * hypervolume(stand_in.losses(self.points), self.edge)

    def judge(self, stand_in: StandIn, aim: float) -> Callable[[Any], bool]:
        front = GrowingFront(self.edge, stand_in.losses(self.points)[: self.elsewhere])
        return lambda level: front.add(self.direction.turned(level)) >= aim > 0.0

    def reached_by(self, step: Step, aim: float) -> bool:
        return step.best is not None and step.best >= aim


def _volume(record: Record, target: float | None, close: float) -> Volume:
    several, optimizer = record.result.several, record.optimizer
    if several is None or several.reference is None:
        raise NoModel("No evaluation of the run keeps all limits, so there is no hypervolume to reach.")
    if target is not None and target <= 0.0:
        raise InvalidInput(
            f"target is {target}: with several objectives it is a hypervolume, so give a number above 0."
        )
    counting = sorted(several.losses)  # by number: those observed elsewhere come first
    params = {trial.number: trial.params for trial in (*optimizer.observed, *optimizer.trials)}
    target = (1.0 - close) * several.final if target is None else float(target)
    return Volume(
        points=np.array([optimizer.space.encoded(params[number]) for number in counting]),
        elsewhere=sum(number < 0 for number in counting),
        target=target,
        share=target / several.final,
        reference=several.reference,
        direction=optimizer.direction,
    )
