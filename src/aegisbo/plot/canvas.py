"""What all figures share: size, colors, legends, titles, and texts that are shown as written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from aegisbo.outcome import FAILURES
from aegisbo.printable import so_many
from aegisbo.review.curves import stopped_trials
from aegisbo.review.record import Record

INK, FAINT, GRID = "#222222", "#767676", "#e4e4e4"
LINE, BEST, FAILED, PENDING = "#0072b2", "#d55e00", "#b3261e", "#00795a"
FORBIDDEN = "#c9c9c9"  # where constraints forbid points
LETTERS = 28  # most letters of a name


Look = dict[str, Any]  # keywords of matplotlib
STAR: Look = {"marker": "*", "color": BEST, "markeredgecolor": "white", "linestyle": ""}
STOPPED: Look = {"marker": "|", "markersize": 8, "markeredgewidth": 2, "color": "#854d0e"}
BELOW: Look = {"loc": "outside lower left", "fontsize": 8, "frameon": False, "labelcolor": INK}  # a legend


class Picture(Figure):
    """A matplotlib figure that shows itself in a notebook, however matplotlib is configured there."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The figure as PNG, at twice the resolution of the space it takes."""
        file = BytesIO()
        self.savefig(file, format="png", dpi=2 * 96)
        width, height = self.get_size_inches()
        return file.getvalue(), {"width": round(96 * width), "height": round(96 * height)}


def canvas(record: Record | None, panels: int, size: tuple[float, float], *lines: str) -> tuple[Picture, list[Axes]]:
    """A figure and its panels, two or three in a row, each of this width and height in inches.

    Its title names the run, if there is one, followed by `lines`.
    """
    columns = 2 if panels == 4 else min(panels, 3)
    rows = math.ceil(panels / columns)
    figure = Picture(figsize=(size[0] * columns, 0.4 + size[1] * rows), facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    axes: list[Axes] = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[panels:]:
        unused.remove()
    for axis in axes[:panels]:
        tidy(axis)
    title = [*([] if record is None else [_summary(record)]), *lines]
    figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=10, color=INK)
    return figure, axes[:panels]


def tidy(axis: Axes) -> None:
    """Thin lines in the background, nothing else but the data."""
    axis.grid(color=GRID, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8, length=3, color=FAINT, labelcolor=INK)
    axis.tick_params(which="minor", length=2, labelsize=7, color=FAINT)
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color(FAINT)


def heading(axis: Axes, text: str) -> None:
    """Give a panel a title."""
    axis.set_title(text, loc="left", fontsize=9, color=INK)


def tag(axis: Axes, text: str, x: float, y: float) -> None:
    """Write a text at the right end of a bar."""
    look: Look = {"textcoords": "offset points", "va": "center", "fontsize": 8, "color": INK}
    axis.annotate(text, (x, y), (4, 0), **look)


def label(axis: Axes, x: str = "", y: str = "") -> None:
    """Label the axes."""
    axis.set_xlabel(x, fontsize=9, color=INK)
    axis.set_ylabel(y, fontsize=9, color=INK)


def legend(axis: Axes, **where: Any) -> None:
    """Explain the marks, if there are any."""
    if axis.get_legend_handles_labels()[0]:
        options: Look = {"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none", **where}
        axis.legend(fontsize=8, labelcolor=INK, **options)


def explain_marks(figure: Picture, axes: Sequence[Axes], columns: int = 7) -> None:
    """One legend for all panels."""
    found = {text: mark for axis in axes for mark, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    if found:
        figure.legend([*found.values()], [*found], ncols=columns, **BELOW)


def crowded(count: int) -> float:
    """How much smaller marks are when there are this many."""
    return min(max(math.sqrt(200.0 / max(count, 1)), 0.4), 1.0)


def say(axis: Axes, text: str) -> None:
    """Say in the middle of a panel why it is empty."""
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", fontsize=9, color=FAINT, wrap=True)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)


def as_label(text: object, letters: int = LETTERS) -> str:
    """A user's text, cut if it is long, which matplotlib must not read as a formula."""
    line = " ".join(str(text).split())
    return (line if len(line) <= letters else f"{line[: letters - 1]}…").replace("$", r"\$")


def _summary(record: Record) -> str:
    """The name of the run, the best value, and how many evaluations it took."""
    result, name = record.result, as_label(record.name)
    failed, stopped = sum(trial.state in FAILURES for trial in record.trials), len(stopped_trials(record))
    said = [f"{result.nfev} evaluations", *([f"{failed} without a value"] if failed else [])]
    said += [f"{stopped} stopped early"] if stopped else []
    said += [f"{len(record.optimizer.pending)} pending"] if record.optimizer.pending else []
    if record.objectives:
        return f"{name}: {so_many(len(result.front), 'trial')} on the front, {', '.join(said)}"
    if result.best is None:
        return f"{name}: {', '.join(said)}"
    where = f"trial {result.best.number}" if result.best.number >= 0 else "observed elsewhere"
    return f"{name}: best {result.fun:.6g} ({where}), {', '.join(said)}"


def unit_of(seconds: float) -> tuple[str, float]:
    """The unit for times up to this many seconds: its name and its seconds."""
    if seconds <= 180.0:
        return "s", 1.0
    return ("min", 60.0) if seconds <= 3 * 3600.0 else ("h", 3600.0)
