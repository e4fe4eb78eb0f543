"""`aegisbo demo`: half a minute that shows what a model is worth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from aegisbo.experiments.simulation import Record

PROBLEMS = ("Branin", "Hartmann6")
STRATEGIES = ("aegis", "thompson", "random")
RUNS = 5
WORKERS = 4
COUNTS = (20, 40, 60)  # evaluations after which to look

INTRODUCTION = """\
Suppose that an evaluation takes an hour and four machines work at once, each at its own pace. Which point should a
machine get that has just become free? Three answers, on two functions that are known to be tricky: [bold]aegis[/bold]
and [bold]thompson[/bold] look at a model of all results so far, [bold]random[/bold] looks at nothing.
"""

NEXT = """\
What to type next:
  aegisbo simulate --problem Hartmann6 --strategy all --runs 5 --jobs 2   every strategy (minutes)
  aegisbo strategies | aegisbo problems                                   what there is to choose from
  aegisbo simulate --help                                                 workers, budgets, job times, JSON
"""


def demo() -> None:
    """Watch AEGiS, Thompson sampling and random search on two problems (half a minute)."""
    from aegisbo.cli import simulations

    console = Console(highlight=False)
    console.print(INTRODUCTION)
    specs = simulations.plan(PROBLEMS, STRATEGIES, RUNS, workers=WORKERS, budget=COUNTS[-1])
    records = simulations.execute(specs, jobs=min(2, os.cpu_count() or 1))
    simulations.show(records, COUNTS, console)
    console.print("", lesson(records), "", NEXT, sep="\n")


def lesson(records: Sequence[Record]) -> str:
    """What one saw, in a sentence."""
    from aegisbo.cli.tables import short

    def regret(problem: str, strategy: str) -> float:
        return median(
            record.scores[-1] for record in records if (record.spec.problem, record.spec.strategy) == (problem, strategy)
        )

    gains = {problem: regret(problem, "random") / regret(problem, "aegis") for problem in PROBLEMS}
    return (
        f"You saw this: with the same {COUNTS[-1]} evaluations AEGiS came nearer to the minimum than random search, by a "
        f"factor of {' and '.join(f'{short(gain)} on {problem}' for problem, gain in gains.items())}, and no machine "
        "ever waited for another."
    )
