"""The figure of docs/asynchrony.md, from a real run: four choices in a row, and what each of them knew.

    python -m benchmarks.pictures.asynchrony -o docs/images/asynchrony.png

It takes half a minute. Needs matplotlib.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import aegisbo
from aegisbo.review.record import Record
from aegisbo.study.known_then import ChoiceMade

BOX = [(0.0, 10.0)]
FIRST = 6  # the first choice that is shown
SHOWN = 4
COLORS = {
    "initial": "0.6",
    "exploit": "tab:blue",
    "improve": "tab:cyan",
    "thompson": "tab:orange",
    "pareto": "tab:green",
}


def valleys(x: np.ndarray) -> float:
    time.sleep(1.0 + 1.5 * math.sin(40 * x[0]) ** 2)
    return height(x[0])


def height(x: float) -> float:
    return math.sin(1.9 * x) + 0.06 * (x - 6.5) ** 2


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(9, 7.6), layout="constrained")
    axes = figure.subplot_mosaic([["time", "time"], [0, 1], [2, 3]], height_ratios=[0.9, 1.6, 1.6])
    chosen = [record.decisions[FIRST + k] for k in range(SHOWN)]
    draw_workers(axes["time"], record, chosen)
    for k, choice in enumerate(chosen):
        draw_choice(axes[k], record, choice, "abcd"[k])
    return figure


def draw_workers(axis: Axes, record: Record, chosen: list[ChoiceMade]) -> None:
    start = min(trial.started for trial in record.trials)
    for trial in record.trials[: FIRST + SHOWN]:
        color = COLORS[trial.note["move"]]
        begin = trial.started - start
        axis.barh(trial.worker, trial.seconds, left=begin, color=color, edgecolor="white", height=0.9)
        axis.text(begin + trial.seconds / 2, trial.worker, str(trial.number), color="white", ha="center", va="center")
    for letter, choice in zip("abcd", chosen, strict=True):
        at = choice.asked.at - start
        axis.axvline(at, color="black", linewidth=0.8)
        axis.annotate(letter, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
                      ha="center", weight="bold")  # fmt: skip
    axis.invert_yaxis()
    axis.set_yticks(range(record.capacity), [f"worker {k}" for k in range(record.capacity)])
    axis.set_xlabel("seconds")
    axis.spines[:].set_visible(False)
    for move in dict.fromkeys(trial.note["move"] for trial in record.trials[: FIRST + SHOWN]):
        axis.barh(0, 0, color=COLORS[move], label=move)
    axis.legend(ncols=6, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)


def draw_choice(axis: Axes, record: Record, choice: ChoiceMade, letter: str) -> None:
    known = record.ended[: choice.known]
    optimizer = aegisbo.Optimizer(BOX, seed=0)
    for trial in known:
        optimizer.observe(trial.x, trial.value)
    grid = np.linspace(*BOX[0], 400)
    guess = optimizer.predict(grid[:, None])
    axis.plot(grid, [height(x) for x in grid], color="0.6", linewidth=0.8, linestyle="dotted")
    axis.fill_between(grid, guess.low, guess.high, color="0.9")
    axis.plot(grid, guess.mean, color="0.3")
    axis.plot([trial.x[0] for trial in known], [trial.value for trial in known], "o", color="black", markersize=5)
    for number in choice.pending:
        x = record.trials[number].x[0]
        axis.axvline(x, color="tab:red", linestyle="dashed", linewidth=1.2)
        axis.annotate(str(number), (x, 0.02), xycoords=("data", "axes fraction"), xytext=(3, 0),
                      textcoords="offset points", color="tab:red")  # fmt: skip
    trial = record.trials[choice.asked.number]
    x, color = trial.x[0], COLORS[trial.note["move"]]
    axis.axvline(x, color=color, linewidth=2)
    axis.annotate(str(trial.number), (x, 0.92), xycoords=("data", "axes fraction"), xytext=(4, 0),
                  textcoords="offset points", color=color, weight="bold")  # fmt: skip
    axis.set_ylim(-1.8, 3.6)
    axis.set_xlim(*BOX[0])
    move, pending = trial.note["move"], len(choice.pending)
    axis.set_title(f"{letter}: {len(known)} results, {pending} pending → {move}", loc="left", fontsize=10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder, "run.db")
        # With one parameter ε is 1, which would never exploit.
        aegisbo.minimize(
            valleys, BOX, budget=16, workers=3, n_initial=4, strategy="aegis:epsilon=0.6", study=study, seed=4
        )
        draw(Record.of_study(study)).savefig(arguments.output, dpi=110)
