"""The picture of the README, from a real run: when each worker was busy, and how the best value went down.

    aegisbo demo
    python -m benchmarks.pictures.demo FOLDER -o docs/images/demo.png

FOLDER is where the demo has left its two study files: it names one of them at its end. Needs matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import aegisbo
from aegisbo.simulation.problems import get

HALVES = {"demo.db": ("asynchronous", "tab:blue"), "batches.db": ("in batches", "tab:orange")}


def draw(folder: Path) -> Figure:
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    *timelines, curve = figure.subplots(3, 1, sharex=True, height_ratios=[1, 1, 1.6])
    for axis, (file, (label, color)) in zip(timelines, HALVES.items(), strict=True):
        trials = aegisbo.load(folder / file).trials
        start = min(trial.started for trial in trials)
        draw_workers(axis, trials, start, color)
        axis.set_title(label, loc="left", fontsize=9)
        draw_best(curve, trials, start, label, color)
    curve.set_yscale("log")
    curve.set_xlabel("seconds")
    curve.set_ylabel("best value − minimum")
    curve.grid(color="0.9")
    curve.legend()
    return figure


def draw_workers(axis: Axes, trials: tuple[aegisbo.Trial, ...], start: float, color: str) -> None:
    for trial in trials:
        axis.barh(
            trial.worker, trial.seconds, left=trial.started - start, color=color, edgecolor="white", linewidth=0.6
        )
    axis.invert_yaxis()
    axis.set_yticks([])
    axis.set_ylabel("workers")
    axis.spines[:].set_visible(False)


def draw_best(axis: Axes, trials: tuple[aegisbo.Trial, ...], start: float, label: str, color: str) -> None:
    ended = sorted(trials, key=lambda trial: trial.ended)
    seconds = [trial.ended - start for trial in ended]
    regret = [min(trial.value for trial in ended[: k + 1]) - get("Hartmann6").minimum for k in range(len(ended))]
    axis.step(seconds, regret, where="post", label=label, color=color)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    draw(arguments.folder).savefig(arguments.output, dpi=110)
