"""The front of several objectives: measured, and as the models predict it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes

from aegisbo.arrays import Array
from aegisbo.errors import OneNumber
from aegisbo.gp.thinning import evenly_spread
from aegisbo.optimizer import Trial
from aegisbo.optimizer.limits import broken_by
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.trial import name_of
from aegisbo.plot.canvas import FAINT, FORBIDDEN, LINE, PENDING, STAR, Look, Picture, crowded
from aegisbo.plot.objectives import canvas_of_pairs, draw_steps, explain_pairs, rows_of
from aegisbo.review.landscape import Models, models_of, told_of
from aegisbo.review.predicted_front import predicted_front
from aegisbo.review.record import Record, Run, record_of

BARS = 12  # points of the predicted front that show how uncertain it is


def front(run: Run) -> Picture:
    """Draw the front of several objectives, all that was measured, and the front that the models predict.

    Bars are one standard deviation of the prediction to either side. With three or four objectives there is a panel for
    each pair.

    Args:
        run: a result, an optimizer, or the file of a study.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        OneNumber: it has one number, and so no front.
        StudyError: the study does not exist.
    """
    record = record_of(run)
    if not record.objectives:
        raise OneNumber(
            f"{record.name} has one number and not several objectives, so there is no front: use convergence."
        )
    facts = _Facts(record)
    figure, panels = canvas_of_pairs(record)
    for axis, pair in panels:
        _draw_limits(axis, record, *(record.objectives[k] for k in pair))
        _draw_predicted(axis, facts, pair)
        _draw_measured(axis, facts, pair)
    explain_pairs(figure, [axis for axis, _ in panels])
    return figure


@dataclass(frozen=True)
class _Facts:
    """What is drawn, in the user's units; a column for each objective."""

    record: Record

    @property
    def steps(self) -> bool:
        """Whether the front is a line: a pair of several is not."""
        return len(self.record.objectives) == 2

    def measured(self, trials: Iterable[Trial]) -> Array:  # (k, m)
        """What trials are compared by: posterior means if values are noisy and they keep all limits."""
        several, objectives = self.record.result.several, self.record.objectives
        losses = {} if several is None else several.losses
        turned = self.record.optimizer.direction.turned

        def row(trial: Trial) -> list[float]:
            if trial.number in losses:
                return list(turned(np.array(losses[trial.number])).tolist())
            return [trial.measured[each.name] for each in objectives]

        return rows_of(map(row, trials), len(objectives))

    @cached_property
    def groups(self) -> dict[str, Array]:
        """All that was measured, but for the front."""
        optimizer, limits = self.record.optimizer, self.record.optimizer.settings.limits
        done = [trial for trial in (*optimizer.observed, *optimizer.trials) if trial.state == "done"]
        others = [trial for trial in done if trial.number not in {best.number for best in self.record.result.front}]
        broken = [bool(broken_by(trial, limits) or optimizer.space.broken(trial.params)) for trial in others]
        return {
            "beaten": self.measured(trial for trial, breaks in zip(others, broken, strict=True) if not breaks),
            "breaks a limit or constraint": self.measured(
                t for t, breaks in zip(others, broken, strict=True) if breaks
            ),
        }

    @cached_property
    def _models(self) -> Models:
        return models_of(self.record.optimizer)

    @cached_property
    def predicted(self) -> tuple[Array, Array] | None:
        """Means (k, m) and standard deviations (k, m) along the predicted front; None without a model."""
        found = predicted_front(self._models, self.record.result.front) if self._models else None
        return None if found is None else self._told(found.Z)

    @cached_property
    def pending(self) -> Array:  # (p, m)
        """The means where trials are pending."""
        pending, space = self.record.optimizer.pending, self.record.optimizer.space
        if not (self._models and pending):
            return rows_of([], len(self.record.objectives))
        return self._told(np.array([space.to_unit(trial.params) for trial in pending]))[0]

    def _told(self, Z: Array) -> tuple[Array, Array]:
        told = told_of(self._models.values(), Z)
        return np.stack([each.mean for each in told], axis=1), np.stack([each.std for each in told], axis=1)


def _draw_limits(axis: Axes, record: Record, one: Objective, other: Objective) -> None:
    """Draw the limits that objectives have."""
    for limit in record.optimizer.settings.limits:
        look: Look = {"color": FORBIDDEN, "linewidth": 1.5, "label": "limit"}
        if limit.name == one.name:
            axis.axvline(limit.bound, **look)
        if limit.name == other.name:
            axis.axhline(limit.bound, **look)


def _draw_predicted(axis: Axes, facts: _Facts, pair: list[int]) -> None:
    if facts.predicted is None:
        return
    mean, std = facts.predicted
    look: Look = {"color": PENDING, "markersize": 2.5, "linewidth": 1.0, "alpha": 0.8}
    axis.plot(*mean[:, pair].T, "-" if facts.steps else ".", label="predicted front", zorder=1.5, **look)
    some = evenly_spread(len(mean), BARS)
    x, y = mean[some][:, pair].T
    dx, dy = std[some][:, pair].T
    axis.errorbar(x, y, dy, dx, fmt="none", ecolor=PENDING, elinewidth=0.8, alpha=0.45, label="its standard deviation")


def _draw_measured(axis: Axes, facts: _Facts, pair: list[int]) -> None:
    size = 4.0 * crowded(sum(map(len, facts.groups.values())))
    looks: dict[str, Look] = {"beaten": {}, "breaks a limit or constraint": {"markerfacecolor": "none"}}
    for name, values in facts.groups.items():
        if len(values):
            axis.plot(
                *values[:, pair].T, "o", color=FAINT, markersize=size, label=f"{name} ({len(values)})", **looks[name]
            )
    result = facts.record.result
    if result.front:
        best = facts.measured(result.front)[:, pair]
        if facts.steps:
            draw_steps(axis, best, facts.record.objectives)
        axis.plot(*best.T, "o", color=LINE, markersize=5.5, label=f"front ({len(best)})")
        extremes = facts.measured(result.extremes.values())[:, pair]
        ring: Look = {"markersize": 11, "markerfacecolor": "none", "color": LINE}
        axis.plot(*extremes.T, "o", label="best in one objective", **ring)
    if result.compromise is not None:
        place = facts.measured([result.compromise])[:, pair]
        axis.plot(*place.T, markersize=14, label=f"compromise ({name_of(result.compromise)})", **STAR)
    if len(facts.pending):
        look: Look = {"color": PENDING, "markersize": 7, "markeredgecolor": "white"}
        axis.plot(*facts.pending[:, pair].T, "^", label=f"pending, as predicted ({len(facts.pending)})", **look)
