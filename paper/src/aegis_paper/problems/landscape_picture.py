"""Functions of two coordinates as maps: one panel each, in levels of value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput
from aegisbo.simulation.problem import Problem

KINDS = (".pdf", ".png", ".svg")

_GRID = 101  # points along each side
_COLUMNS = 3


def draw_landscapes(problems: Sequence[Problem], file: Path) -> None:
    """Write a picture of some functions of two coordinates; a cross marks the lowest point of the grid."""
    if file.suffix.lower() not in KINDS:
        raise InvalidInput(f"{file.name!r} has an ending that cannot be drawn: choose one of {', '.join(KINDS)}.")
    for problem in problems:
        if problem.front is not None:
            raise InvalidInput(f"{problem.name} has several objectives: only one value can be drawn as a map.")
        if problem.d != 2:
            raise InvalidInput(f"{problem.name} has {problem.d} coordinates: only two can be drawn as a map.")
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    columns = min(_COLUMNS, len(problems))
    rows = math.ceil(len(problems) / columns)
    figure = Figure(figsize=(1 + 3 * columns, 2.6 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, problem in zip(panels, problems, strict=False):
        _draw_map(figure, panel, problem)
    for panel in panels[len(problems) :]:
        panel.remove()
    figure.savefig(file, dpi=100)


def _draw_map(figure: Any, panel: Any, problem: Problem) -> None:
    across, up = (np.linspace(low, high, _GRID) for low, high in problem.bounds)
    values = np.array([[problem.function(np.array([a, b])) for a in across] for b in up])
    levels = panel.contourf(across, up, values, levels=20, cmap="viridis")
    row, column = np.unravel_index(values.argmin(), values.shape)
    panel.plot(across[column], up[row], marker="x", color="white")
    labels = [f"{p.name}{' (log)' if p.log else ''}" for p in problem.parameters]
    panel.set(title=f"{problem.name}, lowest {values.min():.3g}", xlabel=labels[0], ylabel=labels[1])
    figure.colorbar(levels, ax=panel)
