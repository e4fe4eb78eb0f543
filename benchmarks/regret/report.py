"""The table of median regrets, and paired tests of one method against each of the others."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.problems.bbob import best_after
from benchmarks.problems.named import group_of, without_instance
from benchmarks.regret.run import Outcome
from benchmarks.sign_test import sign_test

FLOOR = 1e-9  # smaller regrets are rounding errors, and equal
BEST = "best known"
PUBLISHED = "published AEGiS"
PUBLISHED_FILE = Path(__file__).parents[2] / "paper" / "src" / "aegis_paper" / "published.csv"
NEAR, FAR = 1.5, 10.0  # as good as the lowest; lower by an order of magnitude


def published_medians(workers: int) -> dict[str, float]:
    """The paper's median regret of AEGiS after 200 evaluations, by problem; empty for workers that it does not have."""
    with PUBLISHED_FILE.open(newline="", encoding="utf-8") as stream:
        return {
            row["problem"]: float(row["median_regret"])
            for row in csv.DictReader(stream)
            if (row["experiment"], row["method"], row["workers"]) == ("synthetic", "AEGiS", str(workers))
        }


@dataclass(frozen=True)
class Standing:
    """The regrets on one problem, or on all instances of one."""

    problem: str
    group: str
    regrets: dict[str, dict[tuple[str, int], float]]  # by method, and by instance and seed
    published: float | None = None  # the median of the paper's AEGiS
    best: float | None = None  # published, of BBOB: to look at, not to compare with

    @property
    def medians(self) -> dict[str, float]:
        """By method, over all of its runs."""
        medians = {method: median(by_seed.values()) for method, by_seed in self.regrets.items()}
        return medians if self.published is None else {**medians, PUBLISHED: self.published}

    @property
    def runs(self) -> str:
        """How many runs the methods have made: one number, or the least and the most."""
        counts = {len(by_seed) for by_seed in self.regrets.values()}
        return "-".join(map(str, sorted({min(counts), max(counts)})))

    def ratio(self, method: str, reference: str) -> float:
        """The method's median regret over the lowest of all methods but the `reference`."""
        others = [value for other, value in self.medians.items() if other != reference]
        return self.medians[method] / min(others, default=self.medians[method])

    def pairs(self, method: str, other: str) -> list[tuple[float, float]]:
        """The regrets of both methods on each instance with each seed that both have run."""
        mine, theirs = self.regrets.get(method, {}), self.regrets.get(other, {})
        return [(mine[run], theirs[run]) for run in mine if run in theirs]


def standings(outcomes: Iterable[Outcome], order: Sequence[str], published: Mapping[str, float]) -> list[Standing]:
    """A standing for each problem, in this order and then by name; of two outcomes of one job the last one counts."""
    regrets: dict[str, dict[str, dict[tuple[str, int], float]]] = defaultdict(lambda: defaultdict(dict))
    groups: dict[str, str] = {}
    best: dict[str, float] = {}
    for outcome in outcomes:
        problem = without_instance(outcome.problem)
        regrets[problem][outcome.method][outcome.problem, outcome.seed] = max(outcome.regret, FLOOR)
        groups[problem] = group_of(outcome.problem)
        if outcome.problem.startswith("bbob-"):
            best[problem] = best_after(outcome.problem, outcome.budget)
    order = list(dict.fromkeys(map(without_instance, order)))
    known = [*(name for name in order if name in regrets), *sorted(regrets.keys() - set(order))]
    return [
        Standing(problem, groups[problem], dict(regrets[problem]), published.get(problem), best.get(problem))
        for problem in known
    ]


def print_report(table: list[Standing], methods: list[str], chosen: str, measured: list[Outcome]) -> None:
    """The medians of all methods; the times of those that were measured here; tests of the chosen one."""
    print(f"Median regret after {measured[0].budget} evaluations with {measured[0].workers} workers; * is the lowest.")
    print("Instances: the lowest value, because their minima are unknown.")
    columns = [*methods, PUBLISHED] if any(s.published is not None for s in table) else [*methods]
    if any(s.best is not None for s in table):
        print(f"{BEST}: reached by the best algorithm of 2009, of bbob-large 2019; another one for each target.")
        columns.append(BEST)
    for group in dict.fromkeys(standing.group for standing in table):
        print_group(group, [standing for standing in table if standing.group == group], columns)
    seconds = {m: [o.median_seconds for o in measured if o.method == m] for m in columns}
    print()
    print_row("CPU s per suggestion", "", [f"{median(s):.3f}" if (s := seconds[m]) else "-" for m in columns], columns)
    if len(methods) > 1:
        groups = dict.fromkeys(standing.group for standing in table)
        for group in groups if len(groups) > 1 else ():
            print(f"\n{group}", end="")
            print_tests([standing for standing in table if standing.group == group], methods, chosen)
        print("\nall", end="")
        print_tests(table, methods, chosen)


def print_group(group: str, table: list[Standing], methods: list[str]) -> None:
    print()
    print_row(group, "runs", methods, methods)
    for standing in table:
        print_row(standing.problem, standing.runs, [_cell(standing, m) for m in methods], methods)
    compared = [standing for standing in table if len(standing.medians) > 1]
    for name, limit in (("lowest", 1.0), (f"within {NEAR}x", NEAR), (f"{FAR:g}x lower", 1 / FAR)):
        counts = [sum(s.ratio(m, m) <= limit for s in compared if m in s.medians) for m in methods]
        cells = ["" if m == BEST else str(count) for m, count in zip(methods, counts, strict=True)]
        print_row(f"  {name}, of {len(compared)}", "", cells, methods)


def print_tests(table: list[Standing], methods: list[str], chosen: str) -> None:
    """Better and worse runs with the sign test; problems with Wilcoxon's test on the logarithms of median ratios."""
    print(f"\n{chosen} against    runs: better  worse  equal  p (sign)    problems  median ratio  p (Wilcoxon)")
    for other in methods:
        shared = [standing for standing in table if standing.pairs(chosen, other)]
        if other == chosen or not shared:
            continue
        mine, theirs = np.array([pair for standing in shared for pair in standing.pairs(chosen, other)]).T
        better, worse = int((mine < theirs).sum()), int((mine > theirs).sum())
        sign = sign_test(better, worse)
        logs = np.log([s.medians[chosen] / s.medians[other] for s in shared])
        p = wilcoxon(logs).pvalue if logs.any() else 1.0
        print(
            f"{other:{len(chosen) + 8}}{better:16}{worse:7}{len(mine) - better - worse:7}{sign:10.2g}"
            f"{len(shared):12}{np.exp(np.median(logs)):14.3g}{p:14.2g}"
        )


def print_row(name: str, runs: str, cells: list[str], methods: list[str]) -> None:
    widths = [max(len(method), 9) + 3 for method in methods]
    print(
        f"{name.removeprefix('table-'):32}{runs:>5}"
        + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    )


def _cell(standing: Standing, method: str) -> str:
    if method == BEST and standing.best is not None:
        return f"{standing.best:.3g}"
    if method not in standing.medians:
        return "-"
    value = standing.medians[method]
    return ("*" if value == min(standing.medians.values()) else "") + f"{value:.3g}"
