"""Who is ahead on the way, paired by problem and seed: after shares of the evaluations, and after shares of the time.

On tables a job takes as long as the training did, so a method that prefers quick configurations gets further in the
same time. Time is that in which the quicker one of a pair has made all its evaluations.
"""

from __future__ import annotations

import numpy as np

from benchmarks.problems.named import group_of
from benchmarks.regret.run import MARKS, Outcome
from benchmarks.sign_test import sign_test
from benchmarks.traces import steps

EQUAL = 1e-12  # regrets that differ by less are equal


def print_progress(outcomes: list[Outcome], methods: list[str], chosen: str) -> None:
    """Of the tables, how often the chosen method has the lower and the higher regret at each mark."""
    runs = {(o.method, o.problem, o.seed): o for o in outcomes if group_of(o.problem) == "tables" and o.trace}
    for other in methods:
        keys = [rest for name, *rest in runs if name == chosen != other and (other, *rest) in runs]
        if not keys:
            continue
        pairs = [(runs[chosen, *key], runs[other, *key]) for key in keys]
        print(f"\ntables: {chosen} against {other}, {len(pairs)} pairs: lower, higher, p (sign)")
        for mark in MARKS:
            cells = [_cell([step(mine, theirs, mark) for mine, theirs in pairs]) for step in (by_evaluations, by_time)]
            print(f"  {mark:4.0%} of the evaluations {cells[0]}    of the time {cells[1]}")


def by_evaluations(mine: Outcome, theirs: Outcome, mark: float) -> float:
    """Regret of mine less that of the other after this share of the budget."""
    return _reached(mine, 0, mark * mine.budget) - _reached(theirs, 0, mark * theirs.budget)


def by_time(mine: Outcome, theirs: Outcome, mark: float) -> float:
    """The same after this share of the time that both have used."""
    moment = mark * min(mine.makespan, theirs.makespan)
    return _reached(mine, 1, moment) - _reached(theirs, 1, moment)


def _reached(outcome: Outcome, column: int, until: float) -> float:
    """The last regret of a trace whose evaluations (column 0) or time (column 1) are not beyond this."""
    told = np.array(steps(outcome.trace))
    done = told[told[:, column] <= until * (1 + EQUAL)]
    return float(done[-1, 2]) if len(done) else np.inf


def _cell(differences: list[float]) -> str:
    lower = sum(each < -EQUAL for each in differences)
    higher = sum(each > EQUAL for each in differences)
    p = sign_test(lower, higher)
    return f"{lower:4} : {higher:<4}{p:8.2g}"
