"""Average ranks on a family of problems, such as SVM or push4, from the records (section 5.2 of the paper)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.random import Generator

from aegis_paper.plans import Plan
from aegis_paper.scores import Results
from aegisbo.arrays import Array

DRAWS = 1000  # of each instance: one draw picks one run of each method


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


def ranks_of(instances: Sequence[Sequence[Array]], seed: int = 0) -> Array:  # (instances, methods, budget)
    """On each instance the mean rank of each method after each evaluation, 1 for the best; equal scores share theirs.

    `instances` holds for each instance one array of scores per method, (its runs, budget). As in the paper, runs are
    drawn for each method on its own, so the numbers of runs may differ.
    """
    rng = np.random.default_rng(seed)
    return np.array([_ranks_on_instance(scores, rng) for scores in instances])


def _ranks_on_instance(scores: Sequence[Array], rng: Generator) -> Array:  # [(runs, budget)] -> (methods, budget)
    picks = [rng.integers(len(runs), size=DRAWS) for runs in scores]
    ranks = np.ones((len(scores), scores[0].shape[1]))
    # A rank is one more than the number of methods that are ahead, and half a place for each that is level.
    for i, j in permutations(range(len(scores)), 2):
        mine, theirs = scores[i][:, None, :], scores[j][None, :, :]
        ahead = (theirs < mine) + 0.5 * (theirs == mine)  # (runs of i, runs of j, budget)
        drawn = np.zeros(ahead.shape[:2])
        np.add.at(drawn, (picks[i], picks[j]), 1 / DRAWS)
        ranks[i] += np.tensordot(drawn, ahead, axes=2)
    return ranks


def _families(problems: Iterable[str]) -> tuple[str, ...]:
    parts = (problem.partition("#") for problem in problems)
    return tuple(dict.fromkeys(family for family, mark, _ in parts if mark))
