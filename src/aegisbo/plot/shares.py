"""Which parameters matter."""

from __future__ import annotations

from aegisbo.plot.canvas import LINE, Picture, as_label, canvas, label, legend, tag
from aegisbo.report.landscape import needed_landscape
from aegisbo.report.record import Run, record_of

MOST = 20  # parameters shown


def importance(run: Run) -> Picture:
    """Draw how much of the variation of the model's mean each parameter causes, the most important first.

    Args:
        run: a result, an optimizer, or the file of a study.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        StudyError: the study does not exist.
        NoModel: there are too few values for a model.
    """
    record = record_of(run)
    found = needed_landscape(record.optimizer).importances[:MOST]
    figure, (axis,) = canvas(record, 1, (6.4, 1.3 + 0.34 * len(found)))
    rows = range(len(found))
    total, main = [each.total for each in found], [each.main for each in found]
    axis.barh(rows, total, height=0.62, facecolor="white", edgecolor=LINE, hatch="////", label="with others (total)")
    axis.barh(rows, main, height=0.62, facecolor=LINE, edgecolor=LINE, label="alone (main effect)")
    for row, share in enumerate(total):
        tag(axis, f"{share:.1%}", max(share, main[row]), row)
    axis.set_yticks(rows, [as_label(each.parameter) for each in found])
    axis.invert_yaxis()
    axis.set_xlim(0.0, 1.12 * max([*total, *main, 0.01]))
    axis.grid(visible=False, axis="y")
    label(axis, "share of the variation in the model's mean")
    legend(axis, loc="lower right")
    return figure
