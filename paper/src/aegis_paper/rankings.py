"""Average ranks on a family of problems from the records: SVM, push4 and so on, each with many instances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aegis_paper.plan import Plan
from aegis_paper.ranks import ranks_of
from aegis_paper.results import Results
from aegisbo.arrays import Array


@dataclass(frozen=True)
class Ranking:
    """The average rank of each method after each evaluation, over those instances that every method has run."""

    family: str
    workers: int
    preset: str
    strategies: tuple[str, ...]
    by_instance: Array  # (instances, strategies, budget)
    repeats: tuple[int, int]  # the fewest and the most runs of a method on an instance

    @property
    def instances(self) -> int:
        """How many instances every method has run."""
        return len(self.by_instance)

    @cached_property
    def ranks(self) -> Array:  # (strategies, budget)
        """The average over the instances."""
        return np.asarray(self.by_instance.mean(axis=0))

    def of(self, strategy: str) -> Array:  # (budget,)
        """The average ranks of one method."""
        return np.asarray(self.ranks[self.strategies.index(strategy)])

    def on_instances(self, strategy: str, evaluations: slice) -> Array:  # (instances,)
        """The rank of one method on each instance, averaged over some numbers of evaluations."""
        return np.asarray(self.by_instance[:, self.strategies.index(strategy), evaluations].mean(axis=1))


def families_of(plan: Plan) -> tuple[str, ...]:
    """The families of which a plan runs instances."""
    return _families(cell.problem for cell in plan.cells())


def read_ranking(results: Results, plan: Plan, family: str, workers: int, preset: str) -> Ranking | None:
    """What the records say of a family; None if no instance has been run by every method."""
    cells = [cell for cell in plan.cells() if cell.workers == workers and _families([cell.problem]) == (family,)]
    strategies = tuple(dict.fromkeys(cell.strategy for cell in cells))
    curves: dict[str, list[Array]] = {}  # by instance: of each method (runs, budget)
    for cell in cells:
        runs = results.curves(replace(cell, preset=preset))
        if runs:
            curves.setdefault(cell.problem, []).append(np.array([runs[run] for run in sorted(runs)]))
    complete = [methods for methods in curves.values() if len(methods) == len(strategies)]
    if not complete:
        return None
    repeats = [len(runs) for methods in complete for runs in methods]
    return Ranking(family, workers, preset, strategies, ranks_of(complete), (min(repeats), max(repeats)))


def _families(problems: Iterable[str]) -> tuple[str, ...]:
    parts = (problem.partition("#") for problem in problems)
    return tuple(dict.fromkeys(family for family, mark, _ in parts if mark))
