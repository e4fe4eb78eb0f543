"""Best value so far, against evaluations and against time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from aegisbo.optimizer.trial import in_brief
from aegisbo.plot.canvas import (
    BEST,
    FAINT,
    LINE,
    Look,
    Picture,
    as_label,
    canvas,
    crowded,
    heading,
    label,
    legend,
    say,
    unit_of,
)
from aegisbo.plot.value_axis import Values, mark_failures, values_of
from aegisbo.review.convergence import Step
from aegisbo.review.convergence import convergence as steps_of
from aegisbo.review.record import Record, Run, record_of


def convergence(run: Run, *, target: float | None = None) -> Picture:
    """Draw every evaluation and the best value so far, by number of evaluations and by time.

    With several objectives it draws the hypervolume, up to the reference point of the result.

    Args:
        run: a result, an optimizer, or the file of a study.
        target: draw a line at this value.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        StudyError: the study does not exist.
    """
    record = record_of(run)
    steps = steps_of(record)
    timed = [step for step in steps if step.elapsed is not None]
    figure, axes = canvas(record, 2 if timed else 1, (4.6 if timed else 6.4, 3.4), *_reference(record))
    measured = [step.value for step in steps if step.value is not None]
    values = values_of(measured, maximize=record.maximize or bool(record.objectives)).with_room_for(target)
    _panel(axes[0], [float(step.evaluation) for step in steps], steps, values, target)
    heading(axes[0], _title(record))
    label(axes[0], "evaluations", "hypervolume" if record.objectives else "value")
    legend(axes[0])
    if timed:
        unit, size = unit_of(max(step.elapsed or 0.0 for step in timed))
        _panel(axes[1], [(step.elapsed or 0.0) / size for step in timed], timed, values, target)
        heading(axes[1], _title(record))
        label(axes[1], f"time of the run ({unit})")
    return figure


def _title(record: Record) -> str:
    """What is drawn, and which way is better."""
    what = "Hypervolume so far" if record.objectives else "Best so far"
    return f"{what} (larger is better)" if record.objectives or record.maximize else what


def _reference(record: Record) -> list[str]:
    """Up to where hypervolume is measured."""
    reference = record.result.reference if record.objectives else None
    return [] if reference is None else [f"Hypervolume up to {as_label(in_brief(reference), 80)}"]


def _panel(axis: Axes, x: Sequence[float], steps: Sequence[Step], values: Values, target: float | None) -> None:
    if not steps:
        say(axis, "No evaluation has ended yet.")
        return
    values.apply(axis)
    done = [(at, step.value, step.counts) for at, step in zip(x, steps, strict=True) if step.value is not None]
    mark_failures(axis, [at for at, step in zip(x, steps, strict=True) if step.value is None], maximize=values.maximize)
    if done:
        at, y, counts = np.array(done).T
        inside = ~values.beyond(y)
        mark: Look = {"marker": "o", "linestyle": "", "markersize": 3.5 * crowded(len(y)), "color": FAINT}
        kept, broken = inside & (counts == 1.0), inside & (counts == 0.0)
        axis.plot(at[kept], y[kept], **mark, markeredgewidth=0, label="evaluation")
        if broken.any():
            axis.plot(at[broken], y[broken], **mark, markerfacecolor="none", label=f"breaks a limit ({broken.sum()})")
        if not inside.all():
            look: Look = {"markersize": 4, "color": FAINT, "label": f"beyond the axis ({(~inside).sum()})"}
            axis.plot(at[~inside], values.shown(y[~inside]), values.beyond_mark, **look)
        best = [(at, step.best) for at, step in zip(x, steps, strict=True) if step.best is not None]
        axis.step(*np.reshape(best, (-1, 2)).T, where="post", color=LINE, linewidth=1.8, label="best so far")
        better = [(at, step.value) for at, step in zip(x, steps, strict=True) if step.improved]
        if better:
            at, y = np.array(better).T
            axis.plot(at, values.shown(y), "o", markersize=5, color=LINE, label="improvement")
    if target is not None:
        axis.axhline(target, color=BEST, linewidth=1.2, linestyle=(0, (5, 3)), label=f"target {target:.6g}")
    axis.set_xlim(left=0.0)
