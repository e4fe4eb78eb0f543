"""What all figures share: panels, colors, legends. Matplotlib is loaded when something is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

from aegis_paper.published import RUNS, paper_name
from aegisbo.errors import InvalidInput

KINDS = (".pdf", ".png", ".svg")

METHODS = {  # their colors: those of the paper where it has them
    "random": "tab:blue",
    "thompson": "tab:orange",
    "kriging-believer": "tab:green",
    "ei": "tab:green",
    "local-penalization": "tab:red",
    "playbook": "tab:purple",
    "aegis-rs": "tab:brown",
    "aegis": "tab:pink",
    "aegis-no-exploit": "tab:gray",
    "aegis-no-ts": "tab:olive",
    "aegis-no-pf": "tab:cyan",
    "aegis:epsilon=faster": "tab:olive",
    "aegis:epsilon=slower": "tab:cyan",
}
WORKERS = {1: "tab:gray", 4: "tab:blue", 8: "tab:orange", 16: "tab:green"}
FAINT = "0.6"
PAPER = f"the paper, n = {RUNS}"
DIAMONDS: dict[str, Any] = {"marker": "D", "linestyle": "", "markersize": 4, "color": "white", "mec": "0.2"}


def grid(file: Path, panels: Sequence[tuple[str, int]], size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """A panel for each name and number of workers: one row per name, or three names in a row if all have one number."""
    names, workers = (list(dict.fromkeys(part)) for part in zip(*panels, strict=True))
    if len(workers) == 1:
        return canvas(file, len(panels), 3, size)
    figure, axes = canvas(file, len(names) * len(workers), len(workers), size, "row")
    places = dict(zip(product(names, sorted(workers)), axes, strict=True))
    for panel in places.keys() - set(panels):
        places[panel].remove()
    return figure, [places[panel] for panel in panels]


def canvas(
    file: Path, panels: int, columns: int, size: tuple[float, float], sharey: Literal["row"] | bool = False
) -> tuple[Any, list[Any]]:
    """A figure and its panels, each so wide and high in inches."""
    if file.suffix.lower() not in KINDS:
        raise InvalidInput(f"{file.name!r} has an ending that cannot be drawn: choose one of {', '.join(KINDS)}.")
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    columns = min(columns, panels)
    rows = math.ceil(panels / columns)
    figure = Figure(figsize=(0.5 + size[0] * columns, 0.5 + size[1] * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=sharey).ravel().tolist()
    for axis in axes:
        axis.grid(color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8, length=3, color=FAINT)
        axis.tick_params(which="minor", labelsize=7, color=FAINT)
        axis.spines[:].set_color(FAINT)
    for axis in axes[panels:]:
        axis.remove()
    return figure, axes[:panels]


def finish(figure: Any, axes: Sequence[Any], across: str, up: str, file: Path) -> None:
    """Label the whole, explain each color once, and write."""
    figure.supxlabel(across, fontsize=9)
    figure.supylabel(up, fontsize=9)
    entries = {handle.get_label(): handle for axis in axes for handle in axis.get_legend_handles_labels()[0]}
    columns = max(1, int(figure.get_figwidth() / (0.6 + 0.07 * max(map(len, entries)))))
    place = "outside upper center"
    figure.legend([*entries.values()], [*entries], loc=place, ncols=columns, fontsize=8, frameon=False)
    figure.savefig(file, dpi=150)


def log_scale(axis: Any) -> None:
    """A logarithmic scale upwards; where it spans less than a decade, plain numbers between the powers of ten."""
    from matplotlib.ticker import LogFormatter

    axis.set_yscale("log", nonpositive="clip")
    axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))


def style(strategy: str, study: str) -> dict[str, Any]:
    """Color and name of a line; that of AEGiS stands out."""
    look: dict[str, Any] = {"color": METHODS.get(strategy, "black"), "label": paper_name(strategy, study)}
    if study == "gamma" and strategy != "aegis":
        from matplotlib import colormaps

        look["color"] = colormaps["viridis"](gamma_of(strategy))
    return look | ({"linewidth": 2.2, "zorder": 3} if strategy == "aegis" else {"linewidth": 1.3, "zorder": 2})


def gamma_of(strategy: str) -> float:
    """γ, the share of Thompson sampling among the exploratory moves of a variant of AEGiS."""
    named = {"aegis-no-ts": 0.0, "aegis": 0.5, "aegis-no-pf": 1.0}
    start, _, number = strategy.partition("gamma=")
    if strategy not in named and start != "aegis:":
        raise InvalidInput(f"{strategy} has no γ: draw a plan whose methods are aegis:gamma=0.1 and so on.")
    return named[strategy] if strategy in named else float(number)
