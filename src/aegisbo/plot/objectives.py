"""Several objectives in figures: what trials measured of each, and panels for each pair of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from aegisbo.arrays import Array
from aegisbo.optimizer import Trial
from aegisbo.optimizer.objectives import Objective
from aegisbo.plot.canvas import LINE, Look, Picture, as_label, canvas, explain_marks, label
from aegisbo.review.record import Record

FRONT: Look = {"color": LINE, "linewidth": 1.4, "label": "_steps"}


def value_of(trial: Trial, objective: str | None) -> float | None:
    """What a trial measured of an objective, or its only value; None if it is not done."""
    return trial.value if objective is None else trial.measured.get(objective)


def canvas_of_pairs(record: Record, *lines: str) -> tuple[Picture, list[tuple[Axes, list[int]]]]:
    """A figure with a labeled panel for each pair of objectives, by their places."""
    pairs = [list(pair) for pair in combinations(range(len(record.objectives)), 2)]
    figure, axes = canvas(record, len(pairs), (5.4, 4.2) if len(pairs) == 1 else (3.9, 3.4), *lines)
    for axis, pair in zip(axes, pairs, strict=True):
        axis.locator_params(nbins=5 if len(pairs) > 1 else 8)
        _label(axis, *(record.objectives[k] for k in pair))
    return figure, [*zip(axes, pairs, strict=True)]


def explain_pairs(figure: Picture, axes: Sequence[Axes]) -> None:
    """One legend for all panels."""
    explain_marks(figure, axes, 3 if len(axes) == 1 else 5)


def _label(axis: Axes, one: Objective, other: Objective) -> None:
    label(
        axis,
        *(f"{as_label(each.name)} ({'larger' if each.maximize else 'smaller'} is better)" for each in (one, other)),
    )


def draw_steps(axis: Axes, values: Array, objectives: Sequence[Objective]) -> None:  # (k, 2)
    """Draw the border of what a front of two objectives dominates."""
    x, y = values[np.argsort(values[:, 0])].T
    axis.step(x, y, where="pre" if objectives[0].maximize else "post", **FRONT)


def rows_of(values: Iterable[ArrayLike], count: int) -> Array:  # (k, count)
    """Values as rows, also if there are none."""
    return np.array(list(values), dtype=np.float64).reshape(-1, count)
