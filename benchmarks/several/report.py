"""Tables of gaps of hypervolume, and a sign test of one method against each of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

import numpy as np

from benchmarks.problems import biobj, tables
from benchmarks.problems.best import reached
from benchmarks.several.run import Outcome
from benchmarks.sign_test import sign_test

BEST_2016 = "best of 2016"


def print_report(outcomes: list[Outcome], chosen: str) -> None:
    for group in ("biobj", "closed", "tables"):
        mine = [outcome for outcome in outcomes if group_of(outcome.problem) == group]
        if not mine:
            continue
        print(f"\n{group}: {mine[0].workers} workers, {mine[0].budget} evaluations")
        print_quartiles(mine) if group == "biobj" else print_shares(mine)
        print_tests(mine, chosen)
        for method, runs in _by_method(mine).items():
            print(f"{method:16}{median(run.median_seconds for run in runs):8.3f} CPU s per suggestion")


def group_of(problem: str) -> str:
    if problem.startswith(biobj.PREFIX):
        return "biobj"
    return "tables" if problem.startswith(tables.PREFIX) else "closed"


def gaps_by_function(runs: Iterable[Outcome]) -> dict[int, float]:
    """Of bbob-biobj: the median gap over the instances and seeds of each function."""
    found = defaultdict(list)
    for run in runs:
        found[biobj.numbers_of(run.problem)[0]].append(run.gap)
    return {function: median(gaps) for function, gaps in sorted(found.items())}


def print_quartiles(outcomes: list[Outcome]) -> None:
    """Quartiles over the functions of what each method reached, and the best of 2016 on the same functions."""
    best = {function: reached("best2016", function, 5, outcomes[0].budget) for function in gaps_by_function(outcomes)}
    print("gap: median over the functions and quartiles; functions below the best of 2016 (one worker)")
    for method, runs in _by_method(outcomes).items():
        gaps = gaps_by_function(runs)
        below = sum(gap < best[function] for function, gap in gaps.items())
        print(f"{method:16}{_quartiles(list(gaps.values()))}{below:6} of {len(gaps)}  {len(runs)} runs")
    print(f"{BEST_2016:16}{_quartiles(list(best.values()))}")


def print_shares(outcomes: list[Outcome]) -> None:
    """What share of the best front's hypervolume was missing after a quarter, a half and all of the evaluations."""
    print("missing share of the best front's hypervolume after a quarter, a half and all evaluations, medians")
    runs = _by_method(outcomes)
    print(f"{'':42}" + "".join(f"{method:>26}" for method in runs))
    for problem in dict.fromkeys(outcome.problem for outcome in outcomes):
        print(f"{problem:42}" + "".join(f"{_marks(each, problem):>26}" for each in runs.values()))


def print_tests(outcomes: list[Outcome], chosen: str) -> None:
    """Better and worse runs on the same problem with the same seed."""
    gaps = {(run.method, run.problem, run.seed): run.gap for run in outcomes}
    for other in _by_method(outcomes):
        pairs = [
            (gap, gaps[other, problem, seed])
            for (method, problem, seed), gap in gaps.items()
            if method == chosen and (other, problem, seed) in gaps
        ]
        if other == chosen or not pairs:
            continue
        better, worse = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
        p = sign_test(better, worse)
        print(f"{chosen} against {other:16}{better:5} better, {worse} worse, {len(pairs)} pairs, sign test p = {p:.2g}")


def _by_method(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    found = defaultdict(list)
    for outcome in outcomes:
        found[outcome.method].append(outcome)
    return dict(found)


def _quartiles(gaps: list[float]) -> str:
    low, middle, high = np.quantile(gaps, [0.25, 0.5, 0.75])
    return f"{middle:9.4f} ({low:.4f} - {high:.4f})"


def _marks(runs: list[Outcome], problem: str) -> str:
    mine = [run for run in runs if run.problem == problem]
    if not mine:
        return "-"
    marks = [[run.gap_quarter for run in mine], [run.gap_half for run in mine], [run.gap for run in mine]]
    return "  ".join(f"{median(each):.4f}" for each in marks)
