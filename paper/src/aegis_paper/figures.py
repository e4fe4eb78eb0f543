"""The figures of the paper from our runs, drawn with matplotlib into a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aegis_paper.figure_style import DIAMONDS, FAINT, PAPER, WORKERS, canvas, finish, gamma_of, grid, log_scale, style
from aegis_paper.published import paper_name, published_counts
from aegis_paper.rankings import Ranking
from aegis_paper.scores import Curves, ScoreTable
from aegis_paper.statistics import span
from aegisbo.arrays import Array
from aegisbo.simulation.problems import dimension
from aegisbo.strategies.schedules import by_sqrt, faster, slower


def draw_convergence(panels: Mapping[tuple[str, int], Mapping[str, Curves]], study: str, file: Path) -> None:
    """The regret after each evaluation: one panel per problem and number of workers, with the runs of each method."""
    figure, axes = grid(file, [*panels], size=(3.1, 2.3))
    for axis, ((problem, workers), methods) in zip(axes, panels.items(), strict=True):
        for strategy, runs in methods.items():
            if runs:
                _draw_median(axis, np.array([*runs.values()]), problem, style(strategy, study))
        _mark_start(axis, problem)
        log_scale(axis)
        count = span(len(runs) for runs in methods.values() if runs)
        axis.set_title(f"{problem}, q = {workers}, n = {count}", fontsize=9)
    finish(figure, axes, "evaluations", "regret, median and quartiles", file)


def draw_ranks(rankings: Sequence[Ranking], file: Path) -> None:
    """The average rank of each method after each evaluation: one panel per family and number of workers."""
    figure, axes = grid(file, [(ranking.family, ranking.workers) for ranking in rankings], size=(3.1, 2.5))
    for axis, ranking in zip(axes, rankings, strict=True):
        for strategy, ranks in zip(ranking.strategies, ranking.ranks, strict=True):
            axis.plot(*_after_start(f"{ranking.family}#1", ranks), **style(strategy, "synthetic"))
        _mark_start(axis, f"{ranking.family}#1")
        axis.set(ylim=(0.8, len(ranking.strategies) + 0.2), yticks=range(1, len(ranking.strategies) + 1))
        runs = f"{ranking.instances} instances × {span(ranking.repeats)} run{'s' if max(ranking.repeats) > 1 else ''}"
        axis.set_title(f"{ranking.family}, q = {ranking.workers}, {runs}", fontsize=9)
    finish(figure, axes, "evaluations", "average rank, 1 is best", file)


def draw_summary(tables: Sequence[ScoreTable], file: Path) -> None:
    """Bars: the share of the problems on which each method is best or equivalent; the paper's share as diamonds."""
    strategies = list(dict.fromkeys(strategy for table in tables for strategy in table.strategies))
    figure, (axis,) = canvas(file, 1, 1, size=(6.4, 0.8 + len(strategies) * (0.15 + 0.13 * len(tables))))
    height = 0.8 / len(tables)
    for row, table in enumerate(tables):
        places = np.arange(len(strategies)) + (row - (len(tables) - 1) / 2) * height
        bars = axis.barh(places, _ours(table, strategies), 0.9 * height, color=_color(table), label=_describe(table))
        axis.bar_label(bars, [f"{table.counts.get(each, '')}" for each in strategies], padding=7, fontsize=7)
        axis.plot(_published(table, strategies), places, clip_on=False, zorder=4, **DIAMONDS)
    axis.plot([], [], label=PAPER, **DIAMONDS)
    axis.set_yticks(range(len(strategies)), [paper_name(each, tables[0].study) for each in strategies])
    axis.invert_yaxis()
    axis.set(xlim=(0, 1.06), xticks=np.linspace(0, 1, 6))
    axis.grid(axis="y", visible=False)
    finish(figure, [axis], "share of problems where best or equivalent to the best", "", file)


def draw_gamma(tables: Sequence[ScoreTable], file: Path) -> None:
    """How often each share γ of Thompson sampling is best or equivalent; the paper's numbers dashed."""
    figure, (axis,) = canvas(file, 1, 1, size=(6.0, 3.2))
    for table in tables:
        strategies = sorted(table.strategies, key=gamma_of)
        gammas = [gamma_of(each) for each in strategies]
        axis.plot(gammas, _ours(table, strategies), "o-", color=_color(table), lw=1.8, label=_describe(table))
        axis.plot(gammas, _published(table, strategies), "--", color=_color(table))
    axis.plot([], [], "--", color=FAINT, label=PAPER)
    axis.set(ylim=(0, 1.03), xticks=np.linspace(0, 1, 11))
    up = "share of problems where best or equivalent"
    finish(figure, [axis], "γ, share of Thompson sampling among exploratory moves", up, file)


def draw_epsilon_decay(file: Path) -> None:
    """The share ε of exploratory moves against the dimension, for the three schedules."""
    figure, (axis,) = canvas(file, 1, 1, size=(5.0, 3.0))
    dimensions = range(1, 21)
    for schedule, strategy, formula in (
        (slower, "aegis:epsilon=slower", "2/ln(d + 3)"),
        (by_sqrt, "aegis", "2/√d"),
        (faster, "aegis:epsilon=faster", "2/(d − 2)"),
    ):
        look = style(strategy, "epsilon")
        look["label"] += f", {formula}"
        axis.plot(dimensions, [schedule(d) for d in dimensions], marker="o", markersize=4, **look)
    axis.set(ylim=(0, 1.05), xticks=[1, 4, 8, 12, 16, 20])
    finish(figure, [axis], "d, number of parameters", "ε, share of exploratory moves", file)


def _draw_median(axis: Any, scores: Array, problem: str, look: Mapping[str, Any]) -> None:  # (runs, budget)
    evaluations, quartiles = _after_start(problem, np.quantile(scores, [0.25, 0.5, 0.75], axis=0))
    low, median, high = quartiles
    axis.plot(evaluations, median, **look)
    axis.fill_between(evaluations, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _after_start(problem: str, curves: Array) -> tuple[Array, Array]:  # (..., budget)
    """Numbers of evaluations and the curves, from the last initial point on."""
    start = 2 * dimension(problem)
    return np.arange(start, curves.shape[-1] + 1.0), curves[..., start - 1 :]


def _mark_start(axis: Any, problem: str) -> None:
    axis.axvline(2 * dimension(problem), color=FAINT, linestyle="--", linewidth=1)
    axis.set_xlim(left=0)


def _ours(table: ScoreTable, strategies: Sequence[str]) -> list[float]:
    return [table.counts.get(strategy, math.nan) / len(table.complete) for strategy in strategies]


def _published(table: ScoreTable, strategies: Sequence[str]) -> list[float]:
    """On the problems that ours are counted on."""
    counts = published_counts(table.study, table.workers, table.complete)
    return [counts.get(strategy, math.nan) / len(table.complete) for strategy in strategies]


def _color(table: ScoreTable) -> str:
    return WORKERS.get(table.workers, "tab:purple")


def _describe(table: ScoreTable) -> str:
    return f"q = {table.workers}: {len(table.complete)} problems, n = {span(table.runs)}"
