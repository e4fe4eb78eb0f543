"""The workers' time: what each evaluated, and why it was idle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aegisbo.errors import UnknownName
from aegisbo.optimizer.trial import move_of
from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import BELOW, FAINT, INK, Look, Picture, canvas, crowded, label, say, unit_of
from aegisbo.plot.marks import STATES, Mark, marks_of
from aegisbo.review.record import Run, record_of
from aegisbo.review.timeline import Evaluation, Gap, Timeline
from aegisbo.review.timeline import timeline as timeline_of

GAPS = {  # causes of idle time: what they mean, and a pattern for each
    "suggestion": ("idle: waiting for a suggestion", "...."),
    "pool": ("idle: starting up", "||||"),
    "nothing": ("idle: out of work", ""),
    "idle": ("idle", ""),
}
HEIGHT = 0.72  # of a bar; workers are 1 apart
NARROWEST = 0.012  # narrowest bar that holds a mark, as a share of the width


def timeline(run: Run, *, by: Literal["move", "outcome"] = "move") -> Picture:
    """Draw what each worker did and when, why it was idle, and the share of its time that it evaluated.

    Args:
        run: a result, an optimizer, or the file of a study.
        by: what colors and marks show: the move that chose the point, or how its evaluation ended.

    Returns:
        A matplotlib figure.

    Raises:
        InvalidInput: the run is not one of these.
        StudyError: the study does not exist.
    """
    if by not in ("move", "outcome"):
        raise UnknownName("way to color a timeline", by, ("move", "outcome"))
    record = record_of(run)
    facts = timeline_of(record)
    rows = max(len(facts.workers), 1)
    figure, (axis,) = canvas(record, 1, (9.0, 1.4 + 0.34 * rows))
    if not facts.bars:
        say(axis, "The times of evaluations were not recorded.")
        return figure
    longest = max(record.elapsed(bar.ended) for bar in facts.bars)
    unit, size = unit_of(longest)
    axis.set_xlim(0.0, 1.005 * longest / size)

    def moment(at: float) -> float:
        return record.elapsed(at) / size

    def kind(bar: Evaluation) -> str:
        return move_of(record.trials[bar.number]) if by == "move" else bar.state

    kinds = [kind(bar) for bar in facts.bars]
    marks = marks_of(kinds) if by == "move" else {state: STATES[state] for state in STATES if state in kinds}
    _draw_gaps(axis, facts.gaps, moment)
    for name, mark in marks.items():
        mine = [bar for bar in facts.bars if kind(bar) == name]
        _draw_bars(axis, mine, mark, moment, 0.7 * crowded(len(kinds)) ** 2)
    _say_shares(axis, facts)
    label(axis, f"time of the run ({unit})", "worker")
    axis.set_yticks(range(rows))
    axis.set_ylim(rows - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    figure.legend(handles=_explained(facts, marks), ncols=5, **BELOW)
    return figure


def _draw_gaps(axis: Axes, gaps: Iterable[Gap], moment: Callable[[float], float]) -> None:
    for cause, (_, pattern) in GAPS.items():
        for worker in {gap.worker for gap in gaps}:
            spans = [
                (moment(gap.started), moment(gap.ended) - moment(gap.started))
                for gap in gaps
                if (gap.worker, gap.cause) == (worker, cause)
            ]
            axis.broken_barh(
                spans,
                (worker - 0.18, 0.36),
                facecolor="#f1f1f1",
                edgecolor="#9a9a9a",
                linewidth=0.0,
                hatch=pattern,
                label=f"_{cause}",
            )


def _draw_bars(axis: Axes, bars: list[Evaluation], mark: Mark, moment: Callable[[float], float], edge: float) -> None:
    """Draw bars of one kind: struck through without a value, low if stopped early, dashed without an end."""
    looks: dict[str, Look] = {
        "done": {"facecolor": mark.color, "edgecolor": "white"},
        "without": {"facecolor": "white", "edgecolor": mark.color, "hatch": "xxxxx"},
        "stopped": {"facecolor": mark.color, "edgecolor": "white"},
        "open": {"facecolor": "white", "edgecolor": mark.color, "linestyle": "--"},
    }
    for worker in {bar.worker for bar in bars}:
        for outcome, look in looks.items():
            mine = [bar for bar in bars if bar.worker == worker and _outcome(bar) == outcome]
            spans = [(moment(bar.started), moment(bar.ended) - moment(bar.started)) for bar in mine]
            height = 0.5 * HEIGHT if outcome == "stopped" else HEIGHT
            axis.broken_barh(spans, (worker - height / 2, height), linewidth=edge, label=f"_{outcome}", **look)
            wide = [start + width / 2 for start, width in spans if width > NARROWEST * axis.get_xlim()[1]]
            face, line = ("white", mark.color) if outcome in ("done", "stopped") else (mark.color, "white")
            style: Look = {"markerfacecolor": face, "markeredgecolor": line, "markersize": 6.5}
            axis.plot(wide, [worker] * len(wide), linestyle="", marker=mark.marker, **style)


def _outcome(bar: Evaluation) -> str:
    if bar.state in ("done", "stopped"):
        return bar.state
    return "without" if bar.state in FAILURES else "open"


def _say_shares(axis: Axes, facts: Timeline) -> None:
    """Write the share of its time that each worker was busy, at the right."""
    for worker in facts.workers:
        axis.annotate(
            f"{worker.utilization:.0%} busy",
            (1.005, worker.worker),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=INK,
            annotation_clip=False,
        )


def _explained(facts: Timeline, marks: dict[str, Mark]) -> list[Patch | Line2D]:
    entries: list[Patch | Line2D] = [
        Line2D([], [], linestyle="", marker=mark.marker, markersize=7, color=mark.color, label=name)
        for name, mark in marks.items()
    ]
    outcomes = {_outcome(bar) for bar in facts.bars}
    if "without" in outcomes:
        entries.append(Patch(facecolor="white", edgecolor=FAINT, hatch="xxxxx", label="no value"))
    if "stopped" in outcomes:
        entries.append(Line2D([], [], color=FAINT, linewidth=5, label="low bar: stopped early"))
    if "open" in outcomes:
        entries.append(
            Patch(facecolor="white", edgecolor=FAINT, linestyle="--", label="no end: running, lost or interrupted")
        )
    shares = facts.shares()
    for cause, (text, pattern) in GAPS.items():
        if any(gap.cause == cause for gap in facts.gaps):
            named = f"{text} ({shares[cause]:.1%})"
            entries.append(Patch(facecolor="#f1f1f1", edgecolor="#9a9a9a", linewidth=0.0, hatch=pattern, label=named))
    return entries
