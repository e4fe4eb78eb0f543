"""What evaluations reported while they ran, and where those that run are expected to end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from aegisbo.arrays import Array
from aegisbo.optimizer import Trial
from aegisbo.optimizer.prediction import middle_95
from aegisbo.outcome import FAILURES, Report
from aegisbo.plot.canvas import (
    FAILED,
    INK,
    LINE,
    PENDING,
    STOPPED,
    Look,
    Picture,
    canvas,
    crowded,
    explain_marks,
    label,
    say,
)
from aegisbo.plot.value_axis import Values, values_of
from aegisbo.review.curves import drawn_reports, reporting_trials
from aegisbo.review.record import Record, Run, record_of

LOOKS: dict[str, Look] = {  # of the curves of a kind, the topmost last, and of the marks at their ends
    "stopped early": {"color": STOPPED["color"], "alpha": 0.35, "linewidth": 0.9},
    "no value": {"color": FAILED, "alpha": 0.8, "linewidth": 0.9, "linestyle": "--"},
    "with a value": {"color": LINE, "alpha": 0.45, "linewidth": 1.0},
    "running": {"color": PENDING, "linewidth": 2.2},
    "best": {"color": INK, "linewidth": 2.2},
}
ENDS: dict[str, Look] = {
    "stopped early": STOPPED,
    "no value": {"marker": "x", "markersize": 6, "color": FAILED},
    "with a value": {"marker": "o", "markersize": 4, "color": LINE},
    "running": {"marker": "^", "markersize": 7, "color": PENDING, "markeredgecolor": "white"},
    "best": {"marker": "*", "markersize": 12, "color": INK, "markeredgecolor": "white"},
}


def curves(run: Run) -> Picture:
    """Draw what evaluations have reported, and for those that run the expected end with its 95 % band.

    Args:
        run: a result, an optimizer, or the file of a study.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        StudyError: the study does not exist.
    """
    record = record_of(run)
    figure, (axis,) = canvas(record, 1, (7.4, 4.2))
    trials = reporting_trials(record)
    if not trials:
        say(axis, "No evaluation has reported anything.")
        return figure
    label(axis, "step", "value reported (larger is better)" if record.maximize else "value reported")
    finite = [each.value for trial in trials for each in trial.reports if each.value is not None]
    kinds = {name: [trial for trial in trials if _kind(trial, record) == name] for name in LOOKS}
    ahead = [number for trial in kinds["running"] for number in _band(trial, record)]
    values = values_of([*finite, *ahead], maximize=record.maximize)
    values.apply(axis)
    paths = {
        trial.number: _path(trial, reports, values)
        for trial, reports in zip(trials, drawn_reports(trials), strict=True)
    }
    for name, some in kinds.items():
        _draw(axis, name, [paths[trial.number] for trial in some])
    for trial in kinds["running"]:
        _draw_end(axis, paths[trial.number][-1], _band(trial, record), record.optimizer.last_step, values)
    explain_marks(figure, [axis])
    return figure


def _kind(trial: Trial, record: Record) -> str:
    if not record.objectives and record.result.best is not None and record.result.best.number == trial.number:
        return "best"
    states = {"pending": "running", "stopped": "stopped early", **dict.fromkeys((*FAILURES, "lost"), "no value")}
    return states.get(trial.state, "with a value")


def _path(trial: Trial, reports: Sequence[Report], values: Values) -> Array:  # (k, 2)
    """The points of a curve; a trial with a value ends there, and what was not finite is at the bad end."""
    points = [(each.step, each.value) for each in reports]
    if trial.value is not None and trial.value != points[-1][1]:
        points.append((points[-1][0], trial.value))
    bad = -math.inf if values.maximize else math.inf
    path = np.array([(step, bad if value is None else value) for step, value in points])
    path[:, 1] = values.shown(path[:, 1])
    return path


def _draw(axis: Axes, name: str, paths: list[Array]) -> None:
    """Draw all curves of a kind as one line with gaps, and a mark at the end of each."""
    if not paths:
        return
    gap, size = np.full((1, 2), np.nan), crowded(len(paths))
    x, y = np.vstack([part for path in paths for part in (path, gap)]).T
    axis.plot(x, y, label=f"_{name}", **LOOKS[name])
    ends, mark = np.array([path[-1] for path in paths]), ENDS[name]
    look = {**mark, "markersize": mark["markersize"] * size}
    axis.plot(*ends.T, linestyle="", label=f"{name} ({len(paths)})", clip_on=False, **look)


def _band(trial: Trial, record: Record) -> list[float]:
    """The expected end between the ends of its 95 % band; empty if unknown."""
    end = record.expected_ends.get(trial.number)
    if end is None:
        return []
    low, high = middle_95(end.value, end.sd)
    return [low, end.value, high]


def _draw_end(axis: Axes, start: Array, band: list[float], last: float | None, values: Values) -> None:
    """Draw where a running evaluation is expected to end, from its last report on."""
    if not band or last is None:
        return
    step, value = start
    low, mean, high = values.shown(np.array(band))
    axis.fill_between([step, last], [value, low], [value, high], color=PENDING, alpha=0.15, linewidth=0)
    axis.plot([step, last], [value, mean], color=PENDING, linewidth=1.2, linestyle=(0, (4, 3)), label="_expected")
    axis.plot([last, last], [low, high], color=PENDING, linewidth=2.0, label="_band")
