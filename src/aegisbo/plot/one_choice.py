"""One decision in full."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from aegisbo.errors import InvalidInput, NoModel
from aegisbo.optimizer import Trial
from aegisbo.plot.canvas import (
    BEST,
    FAINT,
    LINE,
    PENDING,
    STAR,
    Look,
    Picture,
    as_label,
    canvas,
    heading,
    label,
    legend,
)
from aegisbo.plot.objectives import canvas_of_pairs, draw_steps, explain_pairs, rows_of
from aegisbo.plot.one_parameter import draw_slice, star, values_along
from aegisbo.review.decision_then import DecisionThen, decision_then
from aegisbo.review.front_then import FrontThen, front_then
from aegisbo.review.record import Record, Run, record_of

SLICES = 5  # most slices beside the front
WAITING: Look = {"color": PENDING, "markeredgecolor": "white", "linestyle": ""}


def decision(run: Run, trial: Trial | int) -> Picture:
    """Draw how a point was chosen: the model, its Pareto front of mean and uncertainty, and the points pending then.

    With several objectives it draws the front that was known then, for each pair, and what was predicted of the point.

    Args:
        run: a result with a study, or the file of a study.
        trial: the trial or its number.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is neither of these, or the trial is not given by its number.
        StudyError: the study does not exist.
        TrialError: the trial does not exist, or no study recorded what was known when it was chosen.
        NoModel: no model took part in the choice.
    """
    record = record_of(run)
    _, chosen = record.optimizer.located(trial)
    if chosen is None:
        raise InvalidInput(f"Which trial? Give it by its number, got {trial!r}.")
    facts = front_then(record, chosen.number) if record.objectives else decision_then(record, chosen.number)
    if facts is None:
        raise NoModel(
            f"No model took part in the choice of trial {chosen.number}: its move was {chosen.note.get('move')}."
        )
    return _of_several(record, facts) if isinstance(facts, FrontThen) else _of_one_number(record, chosen, facts)


def _title(facts: FrontThen | DecisionThen) -> str:
    return f"How trial {facts.number} was chosen, by the move {facts.move}"


def _of_several(record: Record, facts: FrontThen) -> Picture:
    objectives = record.objectives
    figure, panels = canvas_of_pairs(record, _title(facts))
    pending = rows_of(facts.pending.values(), len(objectives))
    for axis, (x, y) in panels:
        if len(objectives) == 2:
            draw_steps(axis, facts.front, objectives)
        axis.plot(*facts.front[:, [x, y]].T, "o", markersize=5, color=LINE, label="front at that time")
        if len(pending):
            axis.plot(*pending[:, [x, y]].T, "^", markersize=7, label="pending at that time, as predicted", **WAITING)
        mean, low, high = facts.taken[:, [x, y]]
        (dx, dy) = np.stack([mean - low, high - mean], axis=1)[:, :, None]
        axis.errorbar(mean[0], mean[1], dy, dx, fmt="none", ecolor=BEST, elinewidth=1.0, capsize=3, label="95 %")
        axis.plot(*mean, markersize=14, label="chosen, as predicted", **STAR)
    explain_pairs(figure, [axis for axis, _ in panels])
    return figure


def _of_one_number(record: Record, chosen: Trial, facts: DecisionThen) -> Picture:
    cuts = sorted(facts.slices, key=lambda cut: -float(np.ptp(cut.predicted.mean)))[:SLICES]
    figure, (axis, *others) = canvas(record, 1 + len(cuts), (3.6, 2.9), _title(facts))
    _draw_front(axis, facts)
    values = values_along(cuts, facts.best, maximize=record.maximize)
    for panel, cut in zip(others, cuts, strict=True):
        parameter = record.optimizer.space.parameters[cut.parameter]
        draw_slice(panel, cut, parameter, values)
        panel.axhline(facts.best, color=FAINT, linewidth=1.0, linestyle=(0, (5, 3)))
        star(panel, cut, parameter, chosen.params, None, None, values)
        heading(panel, f"The model at that time, along {as_label(cut.parameter)}")
        label(panel, as_label(cut.parameter), "value")
    return figure


def _draw_front(axis: Axes, facts: DecisionThen) -> None:
    heading(axis, "Pareto front of mean and uncertainty")
    dots: Look = {"markersize": 4, "color": LINE, "linewidth": 0.8, "alpha": 0.9}
    axis.plot(*facts.members.T, "o-", markerfacecolor="white", label="front", **dots)
    if facts.pending:
        axis.plot(*np.array([*facts.pending.values()]).T, "^", markersize=7, label="pending at that time", **WAITING)
    axis.plot(*facts.taken, markersize=14, label="chosen", **STAR)
    axis.axvline(facts.best, color=FAINT, linewidth=1.0, linestyle=(0, (5, 3)), label=f"best so far, {facts.best:.4g}")
    label(axis, "predicted mean", "std (on the model's scale)")
    axis.set_ylim(bottom=0.0)
    legend(axis)
