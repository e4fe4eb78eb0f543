"""What `simulate` does: plan the runs, execute them under a progress bar, show what came out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from aegisbo.cli.tables import plain_table, short
from aegisbo.printable import so_many
from aegisbo.simulation.comparison import FEWEST_RUNS, Comparison, compare, quartiles
from aegisbo.simulation.many import answers
from aegisbo.simulation.problems import get
from aegisbo.simulation.runs import SimulatedRun, Spec, simulate
from aegisbo.strategies.base import does_several
from aegisbo.strategies.registry import names, resolve
from aegisbo.study.agreement import build

EVERY_STRATEGY = "all"
MILESTONES = (50, 100, 150, 200)  # evaluations after which to look at the regret
MEANINGS = {  # of scores that are not values of the problem
    "regret": "Regret is the distance from the minimum to the best value so far. ",
    "gap": "The gap is the share of the exact front's hypervolume that is still missing. ",
}
CLEAR = 0.05  # a difference is called clear if luck alone would make it less often than this


def plan(problems: Iterable[str], strategies: Iterable[str], runs: int, **settings: Any) -> list[Spec]:
    """Every strategy in every run of every problem; raises before anything runs if one of them is impossible."""
    given = list(dict.fromkeys(strategies))
    return [
        Spec(problem=problem, strategy=strategy, run=run, **settings)
        for problem in dict.fromkeys(problems)
        for strategy in (_every_strategy(problem) if EVERY_STRATEGY in given else given)
        for run in range(runs)
    ]


def _every_strategy(problem: str) -> list[str]:
    """All strategies that can choose for it."""
    several = get(problem).front is not None
    return [name for name in names() if not several or does_several(resolve(name))]


def execute(specs: Sequence[Spec], jobs: int) -> list[SimulatedRun]:
    """All records, with a progress bar on a terminal."""
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
    meanings = "".join(dict.fromkeys(comparison.meaning for comparison in comparisons))
    console.print(f"{meanings}{comparisons[0].legend()}")


def as_json(records: Iterable[SimulatedRun]) -> str:
    """The records, and the versions of what made them."""
    return json.dumps({"format": 1, "versions": build(), "runs": [record.describe() for record in records]})


class StrategyComparison:
    """Strategies side by side on one problem, each compared with the first, in tables 80 columns wide and sentences."""

    def __init__(self, runs: Mapping[str, Sequence[SimulatedRun]]) -> None:
        self.runs = runs  # by strategy; the same in the same order for each
        name, self._records = next(iter(runs.items()))  # with which the others are compared
        self._reference = escape(name)
        self._is_distance = self._records[0].is_distance
        self._can_tell = len(runs) > 1 and len(self._records) >= FEWEST_RUNS

    def print(self, console: Console, counts: Sequence[int]) -> None:
        """Show the scores after these numbers of evaluations, then costs and comparisons."""
        names = list(dict.fromkeys(record.spec.problem for record in self._records))
        problem = names[0] if len(names) == 1 else f"{names[0].partition('#')[0]}, {len(names)} instances"
        against = f"; runs won and lost against {self._reference}" if len(self.runs) > 1 else ""
        console.print(
            f"[bold]{problem}: {self._score()} after so many evaluations[/bold]", self.scores(counts), sep="\n"
        )
        console.print(f"\n[bold]Milliseconds per suggestion{against}[/bold]", self.comparison(), sep="\n")
        console.print(f"\n{self.use_of_workers()}\n")

    def _score(self) -> str:
        if self._records[0].front is None:
            return "regret" if self._is_distance else "best value"
        return "gap" if self._is_distance else "minus the hypervolume"

    @property
    def meaning(self) -> str:
        """What the score is, if it is no value."""
        return MEANINGS.get(self._score(), "")

    def scores(self, counts: Sequence[int]) -> Table:
        """The best point's score after these numbers of evaluations: the median over the runs, with quartiles below."""
        table = plain_table(["strategy"], [str(count) for count in counts])
        text = short if self._is_distance else "{:.4g}".format
        for strategy, records in self.runs.items():
            spreads = [quartiles([record.scores[count - 1] for record in records]) for count in counts]
            cells = [text(of.median) for of in spreads]
            if len(records) > 1:
                cells = [f"{text(of.median)}\n[dim]{text(of.low)}–{text(of.high)}[/dim]" for of in spreads]
            table.add_row(escape(strategy), *cells)
        return table

    def comparison(self) -> Table:
        """What a suggestion costs, and each strategy against the first one, run by run, at the end of the budget."""
        headings = ["median\nms", "mean\nms"]
        headings += ["won", "lost", "tied"] if len(self.runs) > 1 else []
        headings += ["p\nbetter", "p\nworse", "in\nwords"] if self._can_tell else []
        table = plain_table(["strategy"], headings)
        reference = [record.scores[-1] for record in self._records]
        for strategy, records in self.runs.items():
            seconds = [each for record in records for each in record.suggestion_seconds]
            found = compare([record.scores[-1] for record in records], reference)
            verdict = [] if records is self._records else _verdict(found)
            table.add_row(escape(strategy), short(1e3 * median(seconds)), short(1e3 * mean(seconds)), *verdict)
        return table

    def use_of_workers(self) -> str:
        """How busy the workers were, which depends on the job times alone."""
        spec = self._records[0].spec
        makespan = median(record.makespan for record in self._records)
        utilization = median(record.utilization for record in self._records)
        workers = so_many(spec.workers, "worker")
        return (
            f"{workers}, job times {escape(spec.law)}: makespan {makespan:.3g} virtual seconds, "
            f"utilization {utilization:.0%}, whatever the strategy."
        )

    def legend(self) -> str:
        """What the numbers mean, for first-time readers."""
        text = ""
        if len(self._records) > 1:
            text = f"Shown are medians over {len(self._records)} runs, and quartiles below them. "
        if len(self.runs) == 1:
            return text
        if not self._can_tell:
            return f"{text}From {FEWEST_RUNS} runs on, a test says which differences are more than luck."
        return (
            f"{text}p is how often luck alone would make a strategy that is as good as {self._reference} look this "
            "much better, or worse, at the end (Wilcoxon's signed-rank test, one-sided, each strategy for itself); a "
            f"difference is clear if p is below {CLEAR}."
        )


def _verdict(found: Comparison) -> list[str]:
    counts = [str(found.better), str(found.worse), str(found.equal)]
    if found.p_better is None or found.p_worse is None:
        return counts
    word = "better" if found.p_better < CLEAR else "worse" if found.p_worse < CLEAR else "not clear"
    return [*counts, short(found.p_better), short(found.p_worse), word]
