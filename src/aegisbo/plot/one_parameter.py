"""The model along one parameter after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.optimizer import Core, Trial
from aegisbo.optimizer.trial import in_brief, name_of
from aegisbo.plot.canvas import FORBIDDEN, LINE, STAR, Look, Picture, as_label, canvas, explain_marks, label
from aegisbo.plot.parameter_axis import declare, edges, places
from aegisbo.plot.titles import summary
from aegisbo.plot.trials_along import draw_trials
from aegisbo.plot.value_axis import Values
from aegisbo.report.landscape import Slice, needed_landscape
from aegisbo.report.source import Run, record_of
from aegisbo.space import Params
from aegisbo.space.parameters import Choice, Parameter

MOST = 12  # panels unless parameters are named


def slices(run: Run, *, point: Any = None, parameters: Sequence[str] | None = None) -> Picture:
    """The model's mean and 95 % band along each parameter, with the evaluated, failed and pending points.

    Points that do not lie on a slice are the paler the further they are away from it.

    Args:
        run: a result, an optimizer, or the file of a study.
        point: where to cut: a point of the space, a trial or its number; the best one unless given.
        parameters: names of those to show; the most important ones, at most 12, unless given.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run or the point is none, or there is no such parameter.
        StudyError: there is no such study.
        NoModel: there are too few values for a model.
    """
    record = record_of(run)
    optimizer, model = record.optimizer, needed_landscape(record.optimizer)
    center, trial = center_of(optimizer, point)
    there = [each.parameter for each in model.importances if each.parameter in center]
    names = there[:MOST] if parameters is None else parameters
    cuts = model.slices(center, [known(optimizer, name, center) for name in names])
    title = f"{summary(record)}\nThe model through {where(trial)}, and what was measured"
    figure, axes = canvas(len(cuts), (3.3 if len(cuts) > 1 else 5.0, 2.6), title)
    values = values_along(cuts, record.result.fun, maximize=record.maximize)
    for axis, cut in zip(axes, cuts, strict=True):
        draw_slice(axis, cut, optimizer.space.parameters[cut.parameter], values)
        draw_trials(axis, optimizer, cut.parameter, center, values)
        star(axis, cut, optimizer.space.parameters[cut.parameter], center, trial, values)
    explain_marks(figure, axes)
    return figure


def center_of(optimizer: Core, point: Any) -> tuple[Params, Trial | None]:
    """Where to cut: at the given point, else at the best one."""
    best = optimizer.found().best
    return optimizer.located(best if point is None and best is not None else point)


def known(optimizer: Core, name: str, center: Params) -> str:
    """The name of a parameter that is there at a point.

    Raises:
        UnknownName: there is no such parameter.
        InvalidInput: it is not there at the point.
    """
    if name not in optimizer.space.parameters:
        raise UnknownName("parameter", name, optimizer.space.parameters)
    if name not in center:
        raise InvalidInput(f"{name} is not there at {in_brief(center)}: cut at another point.")
    return name


def where(trial: Trial | None) -> str:
    """A point in words."""
    return "a point of your own" if trial is None else name_of(trial)


def values_along(cuts: Sequence[Slice], best: float, *, maximize: bool) -> Values:
    """An axis for all slices: their means in full, and the best value."""
    means = [best, *(float(mean) for cut in cuts for mean in cut.predicted.mean[cut.allowed])]
    return Values(min(means), max(means), False, maximize)


def draw_slice(axis: Axes, cut: Slice, parameter: Parameter, values: Values) -> None:
    """Mean and band along one parameter, with the axis as it was declared; gray where constraints forbid points."""
    values.apply(axis)
    declare(axis.xaxis, parameter)
    x, predicted = places(parameter, cut.values), cut.predicted
    mean, low, high = (np.where(cut.allowed, each, np.nan) for each in (predicted.mean, predicted.low, predicted.high))
    if isinstance(parameter, Choice):
        sides = [mean - low, high - mean]
        axis.errorbar(x, mean, sides, fmt="_", ms=16, mew=2, color=LINE, capsize=5, elinewidth=1.2)
        axis.plot([], [], color=LINE, linewidth=1.8, label="model")
        axis.fill_between([], [], [], color=LINE, alpha=0.18, linewidth=0, label="95 %")
    else:
        axis.fill_between(x, low, high, color=LINE, alpha=0.18, linewidth=0, label="95 %")
        axis.plot(x, mean, color=LINE, linewidth=1.8, label="model")
    if not cut.allowed.all():
        cells = np.repeat(edges(x, parameter), 2)[1:-1]  # both ends of each
        everywhere: Look = {"transform": axis.get_xaxis_transform(), "linewidth": 0, "zorder": 0.5}
        forbidden = np.repeat(~cut.allowed, 2).tolist()
        axis.fill_between(cells, 0.0, 1.0, where=forbidden, color=FORBIDDEN, label="forbidden", **everywhere)
    label(axis, as_label(cut.parameter), "value" if axis.get_subplotspec().is_first_col() else "")  # type: ignore[union-attr]


def star(axis: Axes, cut: Slice, parameter: Parameter, center: Params, trial: Trial | None, values: Values) -> None:
    """Where the slice was cut: what was measured there, else what the model expects."""
    (x,) = places(parameter, [center[cut.parameter]])
    along = places(parameter, cut.values)
    y = trial.value if trial is not None and trial.value is not None else np.interp(x, along, cut.predicted.mean)
    named = "cut here" if trial is None else where(trial)
    height = values.shown(np.array([y]))
    axis.plot([x], height, markersize=12, label=named, **STAR)
