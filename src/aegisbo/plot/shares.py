"""Which parameters matter."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from aegisbo.plot.canvas import LINE, Picture, as_label, canvas, heading, label, legend, tag
from aegisbo.review.landscape import Importance, needed_landscape, needed_landscapes
from aegisbo.review.record import Run, record_of

MOST = 20  # parameters shown


def importance(run: Run, *, objective: str | None = None) -> Picture:
    """Draw how much of the variation of the model's mean each parameter causes, the most important first.

    Args:
        run: a result, an optimizer, or the file of a study.
        objective: which of several objectives to draw; by default there is a panel for each.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these, or no objective has this name.
        StudyError: the study does not exist.
        NoModel: there are too few values for a model.
    """
    record = record_of(run)
    optimizer = record.optimizer
    models = needed_landscapes(optimizer) if objective is None else {objective: needed_landscape(optimizer, objective)}
    found = {name: model.importances[:MOST] for name, model in models.items()}
    rows = max(map(len, found.values()))
    figure, axes = canvas(record, len(found), (6.4 if len(found) == 1 else 4.4, 1.3 + 0.34 * rows))
    for axis, (name, importances) in zip(axes, found.items(), strict=True):
        if name is not None:
            heading(axis, as_label(name))
        _draw(axis, importances)
    return figure


def _draw(axis: Axes, found: Sequence[Importance]) -> None:
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
