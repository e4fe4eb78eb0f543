"""`aegisbo demo`: half a minute that shows what a model is worth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from aegisbo.experiments.simulation import Record

PROBLEMS = ("Branin", "Hartmann3")
STRATEGIES = ("aegis", "thompson", "random")
RUNS = 5
WORKERS = 4
COUNTS = (10, 25, 50)  # evaluations after which to look

INTRODUCTION = (
    f"Suppose that an evaluation takes about an hour and that {WORKERS} machines work at their own pace. Which point "
    "should a machine get that has just become free? Three answers, on two functions whose minimum is known: "
    "[bold]aegis[/bold] and [bold]thompson[/bold] ask a model of all results so far, [bold]random[/bold] asks nobody."
)

NEXT = """\
What to type next:
  aegisbo simulate --strategy all --jobs 2   every strategy, 8 workers (minutes)
  aegisbo simulate --help                    workers, budget, job times, JSON
  aegisbo strategies                         what else can choose points
  aegisbo problems                           what else can be minimised\
"""


def demo() -> None:
    """Watch AEGiS, Thompson sampling and random search on two problems (half a minute)."""
    from aegisbo.cli import simulations

    console = Console(highlight=False)
    console.print(INTRODUCTION, end="\n\n")
    specs = simulations.plan(PROBLEMS, STRATEGIES, RUNS, workers=WORKERS, budget=COUNTS[-1])
    records = simulations.execute(specs, jobs=min(2, os.cpu_count() or 1))
    simulations.show(records, COUNTS, console)
    console.print("", lesson(records), "", NEXT, sep="\n")


def lesson(records: Sequence[Record]) -> str:
    """What one saw, in a sentence."""
    from aegisbo.cli.tables import short

    regrets: dict[tuple[str, str], list[float]] = {}
    for record in records:
        regrets.setdefault((record.spec.problem, record.spec.strategy), []).append(record.scores[-1])
    gains = {problem: median(regrets[problem, "random"]) / median(regrets[problem, "aegis"]) for problem in PROBLEMS}
    return (
        f"What you saw: with the same {COUNTS[-1]} evaluations AEGiS came nearer to the minimum than random search, by "
        f"a factor of {' and '.join(f'{short(gain)} on {problem}' for problem, gain in gains.items())}, and no machine "
        "ever waited for another."
    )
