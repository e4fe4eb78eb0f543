"""The model over two parameters at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm

from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Core
from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import (
    FAILED,
    FORBIDDEN,
    INK,
    PENDING,
    STAR,
    STOPPED,
    Look,
    Picture,
    as_label,
    canvas,
    crowded,
    explain_marks,
    heading,
    label,
)
from aegisbo.plot.one_parameter import center_of, known, where
from aegisbo.plot.parameter_axis import declare, edges, places
from aegisbo.review.landscape import Contour, Landscape, needed_landscape
from aegisbo.review.record import Run, record_of
from aegisbo.space import Params
from aegisbo.space.cube import Continuous
from aegisbo.space.parameters import Parameter

LEVELS = 14
FINE = 61  # values of each parameter


def contour(
    run: Run, x: str | None = None, y: str | None = None, *, point: Any = None, objective: str | None = None
) -> Picture:
    """Draw the model's mean over two parameters and all trials, with the other parameters fixed at one point.

    Levels are quantiles of the values shown, so a few high values do not hide the valley.

    Args:
        run: a result, an optimizer, or the file of a study.
        x: the horizontal parameter; by default the most important one.
        y: the vertical parameter; by default the most important other one.
        point: fixes the others: a point of the space, a trial or its number; by default the best one, of
            several objectives the compromise.
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
    x, y = _pair(optimizer, model, center, x, y)
    facts = model.contour(x, y, center, FINE)
    figure, (axis,) = canvas(record, 1, (5.6, 4.4))
    what = "Model's mean" if objective is None else f"Model's mean of {as_label(objective)}"
    heading(axis, f"{what}, other parameters as in {where(trial)}" if len(center) > 2 else what)
    across, up = optimizer.space.parameters[x], optimizer.space.parameters[y]
    declare(axis.xaxis, across, margin=0.0)
    declare(axis.yaxis, up, margin=0.0)
    _draw_mean(figure, axis, facts, across, up)
    axis.grid(visible=False)
    label(axis, as_label(x), as_label(y))
    _draw_trials(axis, optimizer, x, y)
    here = places(across, [center[x]]), places(up, [center[y]])
    axis.plot(*here, markersize=14, label=where(trial), clip_on=False, **STAR)
    explain_marks(figure, [axis])
    return figure


def _pair(optimizer: Core, model: Landscape, center: Params, x: str | None, y: str | None) -> tuple[str, str]:
    given = [known(optimizer, name, center) for name in (x, y) if name is not None]
    there = [each.parameter for each in model.importances if each.parameter in center]
    others = [name for name in there if name not in given]
    if len(given) + len(others) < 2 or (x is not None and x == y):
        raise InvalidInput(
            f"A contour needs two different parameters, got {x!r} and {y!r}: name others, or use slices."
        )
    first = others.pop(0) if x is None else x
    return first, others.pop(0) if y is None else y


def _draw_mean(figure: Picture, axis: Axes, facts: Contour, across: Parameter, up: Parameter) -> None:
    mean = np.ma.masked_array(facts.mean, ~facts.allowed)
    told = mean.compressed() if facts.allowed.any() else facts.mean
    levels = np.unique(np.quantile(told, np.linspace(0.0, 1.0, LEVELS + 1)))
    levels = levels if len(levels) > 1 else levels[0] + np.array([-0.5, 0.5])
    X, Y = places(across, facts.x_values), places(up, facts.y_values)
    norm = BoundaryNorm(levels.tolist(), 256)
    if _in_cells(across) or _in_cells(up):
        columns, rows = edges(X, across), edges(Y, up)
        drawn: Any = axis.pcolormesh(columns, rows, mean, cmap="cividis", norm=norm)
        axis.set(xlim=(columns[0], columns[-1]), ylim=(rows[0], rows[-1]))
    else:
        drawn = axis.contourf(X, Y, mean, levels=levels, cmap="cividis", norm=norm)
        axis.contour(X, Y, mean, levels=levels, colors="white", linewidths=0.4, alpha=0.6)
    if not facts.allowed.all():
        axis.set_facecolor(FORBIDDEN)
        axis.fill_between([], [], [], color=FORBIDDEN, linewidth=0, label="forbidden")
    bar = figure.colorbar(drawn, ax=axis, pad=0.02, ticks=levels[::2], spacing="uniform")
    bar.ax.set_yticklabels([f"{level:.3g}" for level in levels[::2]], fontsize=8, color=INK)
    bar.outline.set_visible(False)
    bar.ax.minorticks_off()


def _in_cells(parameter: Parameter) -> bool:
    """Whether contour lines would cross values that do not exist."""
    return not isinstance(parameter.axis, Continuous) and parameter.axis.size <= FINE // 3


def _draw_trials(axis: Axes, optimizer: Core, x: str, y: str) -> None:
    groups = {
        "evaluated": [each for each in (*optimizer.observed, *optimizer.trials) if each.state == "done"],
        "no value": [each for each in optimizer.trials if each.state in FAILURES],
        "pending": list(optimizer.pending),
        "stopped early": [each for each in optimizer.trials if each.state == "stopped"],
    }
    looks: dict[str, Look] = {
        "evaluated": {
            "marker": "o",
            "markersize": 4.5 * crowded(len(groups["evaluated"])),
            "color": "white",
            "markeredgecolor": INK,
            "markeredgewidth": 0.8,
        },
        "no value": {"marker": "X", "markersize": 7, "color": FAILED, "markeredgecolor": "white"},
        "pending": {"marker": "^", "markersize": 7, "color": PENDING, "markeredgecolor": "white"},
        "stopped early": STOPPED,
    }
    for name, ended in groups.items():
        if trials := [each for each in ended if x in each.params and y in each.params]:
            across, up = (places(optimizer.space.parameters[p], [each.params[p] for each in trials]) for p in (x, y))
            axis.plot(across, up, linestyle="", clip_on=False, label=f"{name} ({len(trials)})", **looks[name])
