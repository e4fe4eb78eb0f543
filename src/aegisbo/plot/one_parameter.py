"""The model along each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.optimizer import Core, Trial
from aegisbo.optimizer.trial import in_brief, name_of
from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import (
    FORBIDDEN,
    INK,
    LINE,
    PENDING,
    STAR,
    STOPPED,
    Look,
    Picture,
    as_label,
    canvas,
    crowded,
    explain_marks,
    label,
)
from aegisbo.plot.objectives import value_of
from aegisbo.plot.parameter_axis import declare, edges, places
from aegisbo.plot.value_axis import Values, mark_failures
from aegisbo.review.landscape import Slice, needed_landscape
from aegisbo.review.record import Record, Run, record_of
from aegisbo.space import Params
from aegisbo.space.parameters import Choice, Parameter

MOST = 12  # panels unless parameters are named
NEAR = 0.25  # root mean square distance from a slice, in shares of the ranges, at which a point fades to a third
PALEST = 0.15


def slices(
    run: Run, *, point: Any = None, parameters: Sequence[str] | None = None, objective: str | None = None
) -> Picture:
    """Draw the model's mean and 95 % band along each parameter, with the evaluated, failed and pending points.

    The farther a point is from a slice, the paler it is.

    Args:
        run: a result, an optimizer, or the file of a study.
        point: where the slices cross: a point of the space, a trial or its number; by default the best one, of several
            objectives the compromise.
        parameters: names of the parameters to show; by default the most important ones, at most 12.
        objective: which of several objectives to draw.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run or the point is not valid, or a parameter or the objective does not exist.
        SeveralObjectives: there are several, and none is named.
        StudyError: the study does not exist.
        NoModel: there are too few values for a model.
    """
    record = record_of(run)
    optimizer, model = record.optimizer, needed_landscape(record.optimizer, objective)
    center, trial = center_of(record, point)
    there = [each.parameter for each in model.importances if each.parameter in center]
    names = there[:MOST] if parameters is None else parameters
    cuts = model.slices(center, [known(optimizer, name, center) for name in names])
    title = f"The model through {where(trial)}, with measured values"
    figure, axes = canvas(record, len(cuts), (3.3 if len(cuts) > 1 else 5.0, 2.6), title)
    here = None if record.center is None else value_of(record.center, objective)
    best = here if record.objectives else record.result.fun
    values = values_along(cuts, best, maximize=model.direction.maximize)
    for axis, cut in zip(axes, cuts, strict=True):
        draw_slice(axis, cut, optimizer.space.parameters[cut.parameter], values)
        _draw_trials(axis, optimizer, cut.parameter, center, values, objective)
        height = None if trial is None else value_of(trial, objective)
        star(axis, cut, optimizer.space.parameters[cut.parameter], center, trial, height, values)
        if objective is not None and axis.get_ylabel():
            axis.set_ylabel(as_label(objective))
    explain_marks(figure, axes)
    return figure


def center_of(record: Record, point: Any) -> tuple[Params, Trial | None]:
    """Where to cut: at the given point, else at the best one or at the compromise of several objectives."""
    here = record.center
    return record.optimizer.located(here if point is None and here is not None else point)


def known(optimizer: Core, name: str, center: Params) -> str:
    """Check that a parameter exists at a point, and return its name.

    Raises:
        UnknownName: there is no such parameter.
        InvalidInput: it does not exist at the point.
    """
    if name not in optimizer.space.parameters:
        raise UnknownName("parameter", name, optimizer.space.parameters)
    if name not in center:
        raise InvalidInput(f"{name} does not exist at {in_brief(center)}: cut at another point.")
    return name


def where(trial: Trial | None) -> str:
    """A point in words."""
    return "a point of your own" if trial is None else name_of(trial)


def values_along(cuts: Sequence[Slice], best: float | None, *, maximize: bool) -> Values:
    """An axis that shows the means of all slices in full, and the best value."""
    means = [
        *([] if best is None else [best]),
        *(float(mean) for cut in cuts for mean in cut.predicted.mean[cut.allowed]),
    ]
    return Values(min(means), max(means), False, maximize)


def draw_slice(axis: Axes, cut: Slice, parameter: Parameter, values: Values) -> None:
    """Mean and band along one parameter, with the axis as it was declared; gray where constraints forbid points."""
    values.apply(axis)
    declare(axis.xaxis, parameter)
    x, (mean, low, high) = places(parameter, cut.values), cut.shown.values()
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


def star(
    axis: Axes,
    cut: Slice,
    parameter: Parameter,
    center: Params,
    trial: Trial | None,
    value: float | None,
    values: Values,
) -> None:
    """Mark where the slice was cut: at the measured value, else at the predicted one."""
    (x,) = places(parameter, [center[cut.parameter]])
    along = places(parameter, cut.values)
    y = np.interp(x, along, cut.predicted.mean) if value is None else value
    named = "cut here" if trial is None else where(trial)
    height = values.shown(np.array([y]))
    axis.plot([x], height, markersize=12, label=named, **STAR)


def _draw_trials(axis: Axes, optimizer: Core, name: str, center: Params, values: Values, objective: str | None) -> None:
    """Draw the trials along one parameter; the farther from the slice through `center`, the paler."""
    parameter = optimizer.space.parameters[name]
    there = [trial for trial in (*optimizer.observed, *optimizer.trials) if name in trial.params]
    done = [trial for trial in there if trial.state == "done"]
    if done:
        x = places(parameter, [trial.params[name] for trial in done])
        y = np.array([value_of(trial, objective) for trial in done], dtype=np.float64)
        pale, inside = _paleness(optimizer, [trial.params for trial in done], name, center), ~values.beyond(y)
        for some, mark, named in ((inside, "o", "evaluated"), (~inside, values.beyond_mark, "beyond the axis")):
            if some.any():
                look: Look = {"s": 14 * crowded(len(done)) ** 2, "marker": mark, "color": INK, "linewidth": 0}
                axis.scatter(x[some], values.shown(y[some]), **look).set_alpha(pale[some].tolist())
                axis.scatter([], [], label=named, **look)
    failed = [trial.params[name] for trial in there if trial.number >= 0 and trial.state in FAILURES]
    mark_failures(axis, places(parameter, failed).tolist(), maximize=values.maximize)
    looks: dict[str, Look] = {"pending": {"marker": 6, "markersize": 6, "color": PENDING}, "stopped": STOPPED}
    for state, look in looks.items():
        if len(at := places(parameter, [trial.params[name] for trial in there if trial.state == state])):
            named = f"{state}{' early' * (state == 'stopped')} ({len(at)})"
            under: Look = {"linestyle": "", "clip_on": False, "transform": axis.get_xaxis_transform()}
            axis.plot(at, np.zeros(len(at)), label=named, **under, **look)


def _paleness(optimizer: Core, points: list[Params], name: str, center: Params) -> Array:  # (m,)
    """How dark each point is drawn."""
    space = optimizer.space
    own = space.cube.columns[list(space.parameters).index(name)]
    away = np.array([space.to_unit(params) for params in points]) - space.to_unit(center)
    away = np.delete(away, np.arange(own.start, own.stop), axis=1)
    distance = (away**2).mean(axis=1) if away.shape[1] else np.zeros(len(points))
    return np.maximum(np.exp(-distance / NEAR**2), PALEST)
