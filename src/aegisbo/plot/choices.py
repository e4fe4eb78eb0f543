"""Why points were chosen, what each kind of move gained, and how good the predictions were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from aegisbo.arrays import Array
from aegisbo.optimizer.prediction import middle_95
from aegisbo.optimizer.trial import move_of
from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import FAINT, Look, Picture, as_label, canvas, crowded, explain_marks, heading, label, say, tag
from aegisbo.plot.marks import Mark, marks_of
from aegisbo.plot.objectives import value_of
from aegisbo.plot.value_axis import Values, mark_failures, values_of
from aegisbo.review.curves import stopped_trials
from aegisbo.review.reasons import CheckedPrediction, Yield, calibration, predictions, yields
from aegisbo.review.record import Record, Run, record_of


def reasons(run: Run) -> Picture:
    """Draw which move chose each point, what the moves gained, how good predictions were, and how late results came.

    With several objectives there are panels for each of them, and moves gain hypervolume.

    Args:
        run: a result, an optimizer, or the file of a study.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        StudyError: the study does not exist.
    """
    record = record_of(run)
    marks = marks_of([move_of(trial) for trial in record.trials])
    directions = record.optimizer.settings.directions
    modeled = [name for name in directions if name not in record.optimizer.settings.wanted.known]
    figure, axes = canvas(record, 2 + len(directions) + len(modeled), (4.6, 3.1))
    along, predicted = axes[: len(directions)], axes[len(directions) + 1 : -1]
    stopped = Counter(move_of(trial) for trial in stopped_trials(record))
    improved = "added to the front" if record.objectives else "improved"
    _brought(axes[len(directions)], yields(record), stopped, marks, improved)
    by_number = {trial.number: marks[move_of(trial)] for trial in record.trials}
    for axis, (name, direction) in zip(along, directions.items(), strict=True):
        _along(axis, record, marks, name, maximize=direction.maximize)
    for axis, name in zip(predicted, modeled, strict=True):
        _predicted(axis, predictions(record, name), by_number, name, maximize=directions[name].maximize)
    _behind(axes[-1], record, marks)
    explain_marks(figure, along[:1])
    return figure


def _along(axis: Axes, record: Record, marks: dict[str, Mark], name: str | None, *, maximize: bool) -> None:
    heading(axis, "Every trial by the move that chose it")
    label(axis, "trial", "value" if name is None else as_label(name))
    done = [(trial, value) for trial in record.trials if (value := value_of(trial, name)) is not None]
    if not record.trials:
        say(axis, "No trial yet.")
        return
    values = values_of([value for _, value in done], maximize=maximize)
    values.apply(axis)
    size = 5.0 * crowded(len(done))
    for move, mark in marks.items():
        mine = [(trial.number, value) for trial, value in done if move_of(trial) == move]
        if mine:
            x, y = np.array(mine, dtype=np.float64).T
            _dots(axis, x, values.shown(y), mark, size, as_label(move))
    failed = [float(trial.number) for trial in record.trials if trial.state in FAILURES]
    mark_failures(axis, failed, maximize=maximize)


def _brought(axis: Axes, found: Sequence[Yield], stopped: Counter[str], marks: dict[str, Mark], improved: str) -> None:
    heading(axis, "What each move gained")
    if not found:
        say(axis, "No trial yet.")
        return
    rows = {move: row for row, move in enumerate(marks)}
    for each in found:
        row, mark = rows[each.move], marks[each.move]
        parts: dict[str, tuple[int, Look]] = {
            "improved": (each.improved, {"facecolor": mark.color}),
            "done": (each.done - each.improved, {"facecolor": "white"}),
            "failed": (each.failed, {"facecolor": "white", "hatch": "xxxxx"}),
            "stopped": (stopped[each.move], {"facecolor": mark.color, "alpha": 0.3}),
            "pending": (
                each.chosen - each.done - each.failed - stopped[each.move],
                {"facecolor": "white", "linestyle": "--"},
            ),
        }
        left = 0
        for part, (count, look) in parts.items():
            if count:
                axis.barh(row, count, left=left, height=0.6, edgecolor=mark.color, label=f"_{part}", **look)
                left += count
        tag(axis, _yield_text(each, improved), left, row)
    axis.set_yticks(list(rows.values()), [as_label(move) for move in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.margins(x=0.45)
    axis.set_xlim(left=0)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(visible=False, axis="y")
    filled = "new best" if improved == "improved" else improved
    pale = "\npale: stopped early; " if stopped else "; "
    label(axis, f"trials (filled: {filled}; crossed: no value{pale}dashed: pending)")


def _yield_text(found: Yield, improved: str) -> str:
    said = f"{found.improved} of {found.chosen} {improved}"
    return f"{said}, by {found.gain:.3g}" if found.gain else said


def _predicted(
    axis: Axes, found: Sequence[CheckedPrediction], marks: dict[int, Mark], name: str | None, *, maximize: bool
) -> None:
    quality, what = calibration(found), "Predicted and measured" + ("" if name is None else f" {as_label(name)}")
    if quality is None:
        heading(axis, what)
        say(axis, "No predicted point has been measured yet.")
        return
    heading(axis, f"{what}: {quality.within:.0%} {'of the values ' if name is None else ''}within 95 %")
    mean, std, value = np.array([(each.mean, each.std, each.value) for each in found]).T
    _square(axis, values_of(value.tolist(), maximize=maximize), mean)
    low, high = axis.get_xlim()
    axis.plot([low, high], [low, high], color=FAINT, linewidth=1.0, linestyle=(0, (5, 3)))
    least, most = np.clip(middle_95(mean, std), low, high)  # (m,) each
    x, y = np.clip(mean, low, high), np.clip(value, low, high)
    for mark in dict.fromkeys(marks.values()):
        mine = np.array([marks[each.number] == mark for each in found])
        axis.hlines(y[mine], least[mine], most[mine], color=mark.color, linewidth=0.7, alpha=0.45)
        _dots(axis, x[mine], y[mine], mark, 4.5 * crowded(len(found)))
    label(axis, "predicted when the point was chosen (line: 95 %)", "measured")


def _square(axis: Axes, values: Values, means: Array) -> None:  # (m,)
    """Use one scale for both axes; around zero it is never logarithmic, because predictions may be negative."""
    if not values.log:
        values.apply(axis)
        axis.set_xlim(axis.get_ylim())
        return
    straight = max(values.low, 1e-4 * values.high)
    limits = (max(min(float(means.min()), values.low), -10.0 * straight) - 0.3 * straight, 1.5 * values.high)
    powers = 10.0 ** np.arange(np.ceil(np.log10(3.0 * straight)), np.floor(np.log10(values.high)) + 1.0)
    ticks = [each for each in (*-powers, 0.0, *powers) if limits[0] < each < limits[1]]  # none that are too close to 0
    for apply, limit, each in (
        (axis.set_xscale, axis.set_xlim, axis.xaxis),
        (axis.set_yscale, axis.set_ylim, axis.yaxis),
    ):
        apply("symlog", linthresh=straight)
        limit(*limits)
        each.set_ticks(ticks)


def _behind(axis: Axes, record: Record, marks: dict[str, Mark]) -> None:
    heading(axis, "Results behind: in, but not used by the choice")
    behind = {number: decision.behind for number, decision in record.decisions.items()}
    if not behind:
        say(axis, "Only a study records when points were chosen.")
        return
    for move, mark in marks.items():
        mine = [(number, count) for number, count in behind.items() if move_of(record.trials[number]) == move]
        if mine:
            x, y = np.array(mine, dtype=np.float64).T
            axis.vlines(x, 0.0, y, color=mark.color, linewidth=0.8)
            _dots(axis, x, y, mark, 4.0 * crowded(len(behind)))
    axis.set_ylim(-0.1, max(*behind.values(), 1) * 1.1)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    label(axis, "trial", "results behind")


def _dots(axis: Axes, x: Array, y: Array, mark: Mark, size: float, name: str = "") -> None:  # (m,), (m,)
    axis.plot(x, y, linestyle="", color=mark.color, marker=mark.marker, markersize=size, label=name or None)
