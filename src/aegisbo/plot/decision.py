"""One decision in full."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from aegisbo.errors import InvalidInput, NoModel
from aegisbo.optimizer import Trial
from aegisbo.plot.canvas import FAINT, LINE, PENDING, STAR, Look, Picture, as_label, canvas, heading, label, legend
from aegisbo.plot.one_parameter import draw_slice, star, values_along
from aegisbo.report.front import Front
from aegisbo.report.front import front as front_of
from aegisbo.report.record import Run, record_of

SLICES = 5  # most slices beside the front


def front(run: Run, trial: Trial | int) -> Picture:
    """Draw how a point was chosen: the model, its Pareto front of mean and uncertainty, and the points pending then.

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
    facts = front_of(record, chosen.number)
    if facts is None:
        raise NoModel(
            f"No model took part in the choice of trial {chosen.number}: its move was {chosen.note.get('move')}."
        )
    cuts = sorted(facts.slices, key=lambda cut: -float(np.ptp(cut.predicted.mean)))[:SLICES]
    title = f"How trial {chosen.number} was chosen, by the move {facts.move}"
    figure, (axis, *others) = canvas(record, 1 + len(cuts), (3.6, 2.9), title)
    _draw_front(axis, facts)
    values = values_along(cuts, facts.best, maximize=record.maximize)
    for panel, cut in zip(others, cuts, strict=True):
        parameter = record.optimizer.space.parameters[cut.parameter]
        draw_slice(panel, cut, parameter, values)
        panel.axhline(facts.best, color=FAINT, linewidth=1.0, linestyle=(0, (5, 3)))
        star(panel, cut, parameter, chosen.params, None, values)
        heading(panel, f"The model at that time, along {as_label(cut.parameter)}")
        label(panel, as_label(cut.parameter), "value")
    return figure


def _draw_front(axis: Axes, facts: Front) -> None:
    heading(axis, "Pareto front of mean and uncertainty")
    dots: Look = {"markersize": 4, "color": LINE, "linewidth": 0.8, "alpha": 0.9}
    axis.plot(*facts.members.T, "o-", markerfacecolor="white", label="front", **dots)
    if facts.pending:
        axis.plot(
            *np.array([*facts.pending.values()]).T,
            "^",
            markersize=7,
            color=PENDING,
            markeredgecolor="white",
            label="pending at that time",
        )
    axis.plot(*facts.taken, markersize=14, label="chosen", **STAR)
    axis.axvline(facts.best, color=FAINT, linewidth=1.0, linestyle=(0, (5, 3)), label=f"best so far, {facts.best:.4g}")
    label(axis, "predicted mean", "std (on the model's scale)")
    axis.set_ylim(bottom=0.0)
    legend(axis)
