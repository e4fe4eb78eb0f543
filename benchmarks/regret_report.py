"""The table of median regrets, and paired tests of one method against each of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from regret_functions import OWN
from regret_run import Outcome
from scipy.stats import binomtest, wilcoxon

FLOOR = 1e-9  # smaller regrets are rounding errors, and equal
NEAR, FAR = 1.5, 10.0  # as good as the lowest; lower by an order of magnitude


@dataclass(frozen=True)
class Standing:
    """The regrets on one problem, for the seeds that all of its methods have run."""

    problem: str
    seeds: tuple[int, ...]
    regrets: dict[str, list[float]]  # by method, in the order of the seeds

    @property
    def group(self) -> str:
        if "#" in self.problem:
            return "instances"
        return "own" if self.problem in OWN else "synthetic"

    @property
    def medians(self) -> dict[str, float]:
        return {method: median(regrets) for method, regrets in self.regrets.items()}

    def ratio(self, method: str, reference: str) -> float:
        """The method's median regret over the lowest of all methods but the `reference`."""
        others = [value for other, value in self.medians.items() if other != reference]
        return self.medians[method] / min(others, default=self.medians[method])


def standings(outcomes: Iterable[Outcome], order: Sequence[str]) -> list[Standing]:
    """A standing for each problem, in this order and then by name."""
    regrets: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for outcome in outcomes:
        regrets[outcome.problem][outcome.method][outcome.seed] = max(outcome.regret, FLOOR)
    known = [*(name for name in order if name in regrets), *sorted(regrets.keys() - set(order))]
    found = []
    for problem in known:
        seeds = tuple(sorted(set.intersection(*(set(by_seed) for by_seed in regrets[problem].values()))))
        if seeds:
            by_method = {m: [by_seed[seed] for seed in seeds] for m, by_seed in regrets[problem].items()}
            found.append(Standing(problem, seeds, by_method))
    return found


def print_report(table: list[Standing], methods: list[str], chosen: str, outcomes: list[Outcome]) -> None:
    print(f"Median regret after {outcomes[0].budget} evaluations with {outcomes[0].workers} workers; * is the lowest.")
    print(
        "Of each problem only the seeds that all its methods have run. Instances: the value, their minima are unknown."
    )
    for group in dict.fromkeys(standing.group for standing in table):
        print_group(group, [standing for standing in table if standing.group == group], methods)
    seconds = [median(o.median_seconds for o in outcomes if o.method == method) for method in methods]
    print()
    print_row("CPU s a suggestion", "", [f"{value:.3f}" for value in seconds], methods)
    if len(methods) > 1:
        print_tests(table, methods, chosen)


def print_group(group: str, table: list[Standing], methods: list[str]) -> None:
    print()
    print_row(group, "seeds", methods, methods)
    for standing in table:
        print_row(standing.problem, str(len(standing.seeds)), [_cell(standing, m) for m in methods], methods)
    compared = [standing for standing in table if len(standing.regrets) > 1]
    for name, limit in (("lowest", 1.0), (f"within {NEAR}x", NEAR), (f"{FAR:g}x lower", 1 / FAR)):
        counts = [sum(s.ratio(m, m) <= limit for s in compared if m in s.regrets) for m in methods]
        print_row(f"  {name}, of {len(compared)}", "", list(map(str, counts)), methods)


def print_tests(table: list[Standing], methods: list[str], chosen: str) -> None:
    """Better and worse runs with the sign test; problems with Wilcoxon's test on the logarithms of median ratios."""
    print(f"\n{chosen} against    runs: better  worse  equal  p (sign)    problems  median ratio  p (Wilcoxon)")
    for other in methods:
        shared = [standing for standing in table if {chosen, other} <= standing.regrets.keys()]
        if other == chosen or not shared:
            continue
        mine, theirs = (np.concatenate([s.regrets[m] for s in shared]) for m in (chosen, other))
        better, worse = int((mine < theirs).sum()), int((mine > theirs).sum())
        sign = binomtest(better, better + worse).pvalue if better + worse else 1.0
        logs = np.log([s.medians[chosen] / s.medians[other] for s in shared])
        p = wilcoxon(logs).pvalue if logs.any() else 1.0
        print(
            f"{other:{len(chosen) + 8}}{better:16}{worse:7}{len(mine) - better - worse:7}{sign:10.2g}"
            f"{len(shared):12}{np.exp(np.median(logs)):14.3g}{p:14.2g}"
        )


def print_row(name: str, seeds: str, cells: list[str], methods: list[str]) -> None:
    widths = [max(len(method), 9) + 3 for method in methods]
    print(f"{name:22}{seeds:>5}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))


def _cell(standing: Standing, method: str) -> str:
    if method not in standing.regrets:
        return "-"
    value = standing.medians[method]
    return ("*" if value == min(standing.medians.values()) else "") + f"{value:.3g}"
