"""How long other teams of workers would take."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from aegisbo.advice import Advice
from aegisbo.arrays import Array, Mask
from aegisbo.plot.canvas import (
    BEST,
    FAINT,
    LINE,
    Look,
    Picture,
    as_label,
    canvas,
    explain_marks,
    heading,
    label,
    unit_of,
)
from aegisbo.printable import so_many
from aegisbo.simulation.comparison import Quartiles

APART = 0.06  # distance between the two kinds of a size, as a share of the step between sizes
UNKNOWN = Quartiles(math.nan, math.nan, math.nan)


def advice(found: Advice) -> Picture:
    """Draw the time and the evaluations that teams of each size would need, asynchronously and in batches.

    Args:
        found: what `aegisbo.advice.advise` returned.

    Returns:
        A matplotlib figure: medians and quartiles of the simulated runs. Hollow marks are teams that would wait for
        suggestions.
    """
    figure, (time, effort, speedup) = canvas(None, 3, (3.9, 3.6), *_title(found))
    sizes = sorted({forecast.workers for forecast in found.forecasts})
    longest = max((f.time.high for f in found.forecasts if math.isfinite(f.time.high)), default=1.0)
    unit, size = unit_of(longest)
    looks: dict[bool, Look] = {
        False: {"color": LINE, "marker": "o", "label": "without waiting"},
        True: {"color": BEST, "marker": "s", "label": "in batches"},
    }
    for batches, look in looks.items():
        some = sorted((f for f in found.forecasts if f.batches == batches), key=lambda f: f.workers)
        at = np.array([sizes.index(f.workers) + (APART if batches else -APART) for f in some])
        hollow = np.array([found.waits(f) for f in some], dtype=np.bool_)
        _quartiles(time, at, [[each / size for each in f.time] for f in some], hollow, look)
        _quartiles(effort, at, [f.effort for f in some], hollow, look)
        _quartiles(speedup, at, [found.speedup(f) or UNKNOWN for f in some], hollow, look)
    if any(map(found.waits, found.forecasts)):
        time.plot([], [], "o", markersize=5, color=LINE, markerfacecolor="white", label="waits for suggestions")
    if found.took is not None:
        own, (seconds, evaluations) = sizes.index(found.forecasts[0].workers), found.took
        for axis, value in ((time, seconds / size), (effort, evaluations)):
            axis.plot([own], [value], "*", markersize=11, color=FAINT, label="the run itself")
    for axis, title, what in (
        (time, "Time", f"time ({unit})"),
        (effort, "Evaluations", "evaluations"),
        (speedup, f"Against {found.forecasts[0].title}, run by run", "times as fast"),
    ):
        heading(axis, title)
        label(axis, "workers", what)
        axis.set_xticks(range(len(sizes)), [str(each) for each in sizes])
        axis.set_ylim(bottom=0.0)
    explain_marks(figure, [time])
    return figure


def _title(found: Advice) -> list[str]:
    """The title: what was simulated, and whether to trust it."""
    runs, aim = len(found.aims), found.aim
    spread = f"{aim.low:.4g} to {aim.high:.4g}" if runs > 1 else f"{aim.median:.4g}"
    lines = [
        f"{as_label(found.name)}: how long it would take to reach {found.aimed_at}",
        f"{so_many(runs, 'simulated run')} of each team on stand-ins for the function, each with its own target "
        f"({spread}); bars: middle half",
    ]
    if found.doubtful:
        lines.append("This model does not predict well, so do not trust this forecast.")
    return lines


def _quartiles(axis: Axes, at: Array, rows: Sequence[Sequence[float]], hollow: Mask, look: Look) -> None:
    """Draw medians joined by a line, with bars over the middle half; infinite ones are left out."""
    quartiles = np.array(rows).reshape(-1, 3)
    there = np.isfinite(quartiles[:, 1])
    low, middle, high = quartiles[there].T
    bars = [middle - low, np.where(np.isfinite(high), high, middle) - middle]
    axis.errorbar(at[there], middle, bars, linewidth=1.6, elinewidth=1.2, capsize=3, markersize=5, **look)
    some = hollow[there]
    axis.plot(at[there][some], middle[some], look["marker"], color="white", markersize=3, zorder=3)
