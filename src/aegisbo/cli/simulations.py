"""What `simulate` does: plan the runs, execute them under a progress bar, show what came out."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import scipy
from rich.console import Console
from rich.progress import track

from aegisbo import __version__
from aegisbo.cli.strategy_comparison import StrategyComparison
from aegisbo.simulation.many import answers
from aegisbo.simulation.runs import SimulatedRun, Spec, simulate
from aegisbo.strategies.registry import names

EVERY_STRATEGY = "all"
MILESTONES = (50, 100, 150, 200)  # evaluations after which to look at the regret


def plan(problems: Iterable[str], strategies: Iterable[str], runs: int, **settings: Any) -> list[Spec]:
    """Every strategy in every run of every problem; raises before anything has run if one of them is impossible."""
    strategies = list(names()) if EVERY_STRATEGY in strategies else list(dict.fromkeys(strategies))
    return [
        Spec(problem=problem, strategy=strategy, run=run, **settings)
        for problem in dict.fromkeys(problems)
        for strategy in strategies
        for run in range(runs)
    ]


def execute(specs: Sequence[Spec], jobs: int) -> list[SimulatedRun]:
    """All records, with a progress bar if somebody watches."""
    console = Console(stderr=True)
    done = answers(simulate, specs, jobs)
    return list(track(done, "Simulating", len(specs), console=console, transient=True, disable=not console.is_terminal))


def checkpoints(budget: int) -> list[int]:
    """The milestones on the way, and the end."""
    return [*(count for count in MILESTONES if count < budget), budget]


def show(records: Iterable[SimulatedRun], counts: Sequence[int], console: Console) -> None:
    """Print what came out for each problem, all its instances together, and how to read it."""
    by_problem: dict[str, dict[str, list[SimulatedRun]]] = {}
    for record in records:
        problem = record.spec.problem.partition("#")[0]
        by_problem.setdefault(problem, {}).setdefault(record.spec.strategy, []).append(record)
    comparisons = [StrategyComparison(runs) for runs in by_problem.values()]
    for comparison in comparisons:
        comparison.print(console, counts)
    console.print(comparisons[0].legend())


def as_json(records: Iterable[SimulatedRun]) -> str:
    """The records, and the versions of what made them."""
    versions = {
        "aegisbo": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
    }
    return json.dumps({"format": 1, "versions": versions, "runs": [record.describe() for record in records]})
