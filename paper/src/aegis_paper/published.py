"""The numbers of the paper's tables, under the names that this package gives to strategies and studies."""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from aegis_paper.statistics import Mark

RUNS = 51  # behind each median of the paper
FUNCTIONS = 15  # in each table

STRATEGIES = {
    "Random": "random",
    "TS": "thompson",
    "EI": "ei",
    "KB": "kriging-believer",
    "LP": "local-penalization",
    "PLAyBOOK": "playbook",
    "AEGiS-RS": "aegis-rs",
    "AEGiS": "aegis",
    "No Exploit": "aegis-no-exploit",
    "No TS": "aegis-no-ts",
    "No PF": "aegis-no-pf",
    "Faster": "aegis:epsilon=faster",
    "Slower": "aegis:epsilon=slower",
    "0.0": "aegis-no-ts",  # γ = 0 and γ = 1 are the same algorithms as two ablations, which the paper ran afresh
    **{f"0.{tenths}": f"aegis:gamma=0.{tenths}" for tenths in (1, 2, 3, 4, 6, 7, 8, 9)},
    "1.0": "aegis-no-pf",
}


@dataclass(frozen=True)
class Published:
    """One cell of one of the paper's tables: the regret after 200 evaluations, over 51 runs."""

    study: str  # the plan that asks for the same runs
    workers: int
    strategy: str
    problem: str
    median: float
    mad: float
    mark: Mark


@cache
def published() -> tuple[Published, ...]:
    """All cells of all tables, in the order of the paper."""
    text = (files(__package__) / "published.csv").read_text(encoding="utf-8")
    return tuple(_cell(row) for row in csv.DictReader(text.splitlines()))


def published_table(study: str, workers: int) -> dict[tuple[str, str], Published]:
    """The cells of one table by strategy and problem; empty if the paper has no such table."""
    return {(of.strategy, of.problem): of for of in published() if (of.study, of.workers) == (study, workers)}


def published_counts(study: str, workers: int, problems: Collection[str] | None = None) -> dict[str, int]:
    """On how many of the fifteen functions, or of these, each method of a table is best or equivalent to the best."""
    counts: dict[str, int] = {}
    for (strategy, problem), cell in published_table(study, workers).items():
        if problems is None or problem in problems:
            counts[strategy] = counts.get(strategy, 0) + bool(cell.mark)
    return counts


def paper_name(strategy: str, study: str) -> str:
    """What the paper calls a strategy in a study; the strategy's own text where the paper has no name for it."""
    sweep = study == "gamma" and strategy != "aegis"
    for name, text in STRATEGIES.items():
        if text == strategy and sweep == name[0].isdigit():
            return f"γ = {name}" if sweep else name
    return strategy


def _cell(row: dict[str, str]) -> Published:
    return Published(
        study=_study(row["experiment"], int(row["workers"])),
        workers=int(row["workers"]),
        strategy=STRATEGIES[row["method"]],
        problem=row["problem"],
        median=float(row["median_regret"]),
        mad=float(row["mad"]),
        mark=Mark(row["marked"]),
    )


def _study(experiment: str, workers: int) -> str:
    if experiment == "synthetic" and workers == 1:
        return "sequential"
    return "gamma" if experiment == "ts_proportion" else experiment
