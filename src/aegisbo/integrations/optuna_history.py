"""Optuna's trials as evidence for a strategy, at the moment when a point is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
from optuna import Study
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_curves import curve_of
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.integrations.optuna_storage import enqueued_params, record_of, retried_numbers, was_stopped
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.objectives import MOST, Objective
from aegisbo.stopping.end_model import EndModel
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.timing import Timing

LEAST_PATIENCE = 3600.0  # seconds
LONGEST_RUNS = 5  # a trial that has run this many times as long as the longest one is dead

Role = Literal["done", "failed", "pending", "stopped"]


@dataclass(frozen=True)
class KnownTrial:
    """A trial as a strategy sees it."""

    x: Array  # (width,)
    role: Role
    loss: float | Array = math.nan  # to be minimized; (m,) of m objectives; when done, or as expected when stopped
    sd: float = 0.0  # of the loss, when stopped
    seconds: float | None = None  # only when it ran to its end
    constraints: Mapping[str, float] = field(default_factory=dict)  # above 0 where one is broken; only when done


@dataclass(frozen=True)
class History:
    """What is known about a study at one moment, by trial number."""

    space: SearchSpace
    known: dict[int, KnownTrial]
    priced: bool = False  # whether time is what trials cost
    several: int = 0  # how many objectives there are, unless there is one

    @property
    def evidence(self) -> Evidence:
        """The same for a strategy."""
        done, failed, pending, stopped = (
            [known for known in self.known.values() if known.role == role]
            for role in ("done", "failed", "pending", "stopped")
        )
        names = sorted({name for known in done for name in known.constraints})
        done = [known for known in done if all(name in known.constraints for name in names)]  # others tell nothing
        excess = np.array([[known.constraints[name] for name in names] for known in done])
        rows = [*done, *stopped]  # there are none stopped with constraints or several objectives
        losses = np.array([known.loss for known in rows])
        return Evidence(
            X=self._stacked(rows),
            y=losses.reshape(len(done), self.several) if self.several else losses,
            failed=self._stacked(failed),
            pending=self._stacked(pending),
            cube=self.space.cube,
            timing=self._timing() if self.priced else None,
            excess=excess.reshape(len(done), len(names)) if names else None,
            sd=np.array([known.sd for known in rows]) if stopped else None,
            allowed=np.array([known.role == "done" for known in rows]) if stopped else None,
        )

    def _timing(self) -> Timing:
        timed = [known for known in self.known.values() if known.seconds]
        return Timing(self._stacked(timed), np.array([known.seconds for known in timed], dtype=np.float64), costly=True)

    def news_since(self, earlier: History) -> Array:  # (m, width)
        """The points that an earlier look at the same study did not show."""
        before = {number: known.x.tobytes() for number, known in earlier.known.items()}
        return self._stacked(known for number, known in self.known.items() if known.x.tobytes() != before.get(number))

    def _stacked(self, entries: Iterable[KnownTrial]) -> Array:  # (m, width)
        return np.array([known.x for known in entries]).reshape(-1, self.space.cube.width)


@dataclass(frozen=True)
class Reader:
    """How trials are read; a trial that lacks a parameter of the space, or has a value out of range, tells nothing."""

    space: SearchSpace
    direction: Direction
    stale_after: float | None  # seconds after which a running trial is dead; None to judge by the others
    priced: bool = False  # whether time is what trials cost

    def read(self, trials: Sequence[FrozenTrial], asking: int) -> History:
        """The history for the trial with the number `asking`."""
        patience = _patience(trials) if self.stale_after is None else self.stale_after
        ignored = {asking, *retried_numbers(trials)}
        known = {trial.number: self._known(trial, patience) for trial in trials if trial.number not in ignored}
        known_now = {number: entry for number, entry in known.items() if entry is not None}
        expected = self._expected([trial for trial in trials if trial.number in known_now], known_now)
        return History(self.space, known_now | expected, self.priced, self.direction.several)

    def _expected(self, trials: Sequence[FrozenTrial], known: Mapping[int, KnownTrial]) -> dict[int, KnownTrial]:
        """The trials that our pruner stopped, with their ends as in our own runs, where these can be expected."""
        stopped = [trial for trial in trials if was_stopped(trial)]
        if not stopped or self.direction.several or any(trial.constraints for trial in trials):
            return {}
        complete = [trial for trial in trials if trial.state == TrialState.COMPLETE and trial.intermediate_values]
        ended = [curve_of(trial, self.direction) for trial in complete if known[trial.number].role == "done"]
        best = min((curve.end for curve in ended if curve.end is not None), default=math.inf)
        ends = EndModel(ended).forecasts(curve_of(trial, self.direction) for trial in stopped)
        return {
            trial.number: KnownTrial(known[trial.number].x, "stopped", max(end.mean, best), end.sd)
            for trial, end in zip(stopped, ends, strict=True)
            if end is not None
        }

    def _known(self, trial: FrozenTrial, patience: float) -> KnownTrial | None:
        role = _role(trial, patience)
        if role is None or (x := self.space.point(self._params(trial))) is None:
            return None
        if role != "done":
            return KnownTrial(x, role)
        assert trial.values  # or it would have failed
        took = trial.duration if trial.state == TrialState.COMPLETE else None
        seconds = None if took is None else took.total_seconds()
        constraints = {name: value for name, value in trial.constraints.items() if math.isfinite(value)}
        loss = self.direction.turned(np.array(trial.values) if self.direction.several else trial.values[0])
        return KnownTrial(x, role, loss, seconds=seconds, constraints=constraints)

    def _params(self, trial: FrozenTrial) -> dict[str, Any]:
        """The values that a trial has or will have: enqueued ones replace ours."""
        if trial.state.is_finished():
            return trial.params
        record = record_of(trial)
        ours = self.space.params(np.array(record.x)) if record and record.space == self.space.digest else {}
        return {**ours, **enqueued_params(trial), **trial.params}


def _role(trial: FrozenTrial, patience: float) -> Role | None:
    match trial.state:
        case TrialState.COMPLETE | TrialState.PRUNED:  # of a pruned trial Optuna keeps the last value reported
            return "done" if trial.values and all(map(math.isfinite, trial.values)) else "failed"
        case TrialState.FAIL:
            return "failed"
        case TrialState.RUNNING:
            started = trial.datetime_start or datetime.now()
            return "pending" if (datetime.now() - started).total_seconds() < patience else None  # dead
    return None  # waiting


def _patience(trials: Iterable[FrozenTrial]) -> float:
    """How long a running trial is waited for; failed ones do not count, they may have been found dead days later."""
    finished = (trial for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED))
    longest = max((trial.duration or timedelta() for trial in finished), default=timedelta())
    return max(LEAST_PATIENCE, LONGEST_RUNS * longest.total_seconds())


def direction_of(study: Study) -> Direction:
    """Which values are good; several objectives have the names of the study's metrics, or else of its data frame.

    Raises:
        InvalidInput: the study has too many directions.
    """
    upward = [direction == StudyDirection.MAXIMIZE for direction in study.directions]
    if len(upward) == 1:
        return Direction(upward[0])
    if len(upward) > MOST:
        raise InvalidInput(
            f"The study has {len(upward)} directions, and aegisbo optimizes one to {MOST} objectives: make constraints "
            "of the others, or use another sampler."
        )
    names = study.metric_names or [f"values_{number}" for number in range(len(upward))]
    return Direction(False, tuple(map(Objective, names, upward)))
