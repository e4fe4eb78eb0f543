"""One picture: how many times the regret of the best competitor each method is left with, by problem."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from benchmarks.regret.report import FAR, NEAR, Standing

COLORS = ("tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:gray", "tab:olive", "tab:cyan")
MARKERS = "os^vPX*p"  # the diamond is for the chosen method


def draw(table: list[Standing], methods: list[str], chosen: str, file: Path) -> None:
    """The chosen method is left of 1 where it beats all others; the best of those stands at 1."""
    if find_spec("matplotlib") is None:
        print(f"\nWithout {file}: matplotlib is not installed.")
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.6 + 0.24 * len(table)), layout="constrained")
    axis = figure.subplots()
    axis.axvspan(1 / NEAR, NEAR, color="0.93", linewidth=0)
    axis.axvline(1, color="0.4", linewidth=0.8)
    axis.axvline(1 / FAR, color="0.4", linewidth=0.8, linestyle=":")
    others = [method for method in methods if method != chosen]
    for k, method in enumerate(others):
        style = {"color": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)], "s": 26, "alpha": 0.8}
        axis.scatter(*_places(table, method, chosen), label=method, zorder=2, **style)
    axis.scatter(*_places(table, chosen, chosen), label=chosen, zorder=3, color="crimson", marker="D", s=48)
    for row in range(1, len(table)):
        if table[row].group != table[row - 1].group:
            axis.axhline(row - 0.5, color="0.4", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yticks(range(len(table)), [standing.problem for standing in table], fontsize=8)
    axis.set_ylim(len(table) - 0.5, -0.5)
    axis.grid(axis="both", color="0.9", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set_xlabel(
        f"median regret, relative to the best method other than {chosen}\n"
        f"(grey: within a factor of {NEAR}; dotted: {FAR:g} times lower)",
        fontsize=9,
    )
    figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    figure.savefig(file, dpi=150)
    print(f"\nThe picture is {file}.")


def _places(table: list[Standing], method: str, chosen: str) -> tuple[list[float], list[int]]:
    rows = [row for row, standing in enumerate(table) if method in standing.medians]
    return [table[row].ratio(method, chosen) for row in rows], rows
