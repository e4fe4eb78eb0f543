"""One table of the paper: the final scores of some methods on some problems with one number of workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from aegis_paper.analysis import Mark, Scores, Summary, marks, summarize
from aegis_paper.plan import Plan
from aegis_paper.reference.registry import REFERENCE
from aegis_paper.results import Results


@dataclass(frozen=True)
class Standings:
    """The scores of each method on each problem; both in the order in which they are shown."""

    study: str
    workers: int
    preset: str
    budget: int
    strategies: tuple[str, ...]
    problems: tuple[str, ...]
    scores: Mapping[tuple[str, str], Scores]  # by strategy and problem; empty where nothing has been run

    @classmethod
    def read(cls, results: Results, plan: Plan, workers: int, preset: str) -> Standings:
        """What the records hold of a plan with so many workers, on single functions."""
        cells = [cell for cell in plan.cells() if cell.workers == workers and "#" not in cell.problem]
        strategies = tuple(dict.fromkeys(cell.strategy for cell in cells))
        problems = tuple(dict.fromkeys(cell.problem for cell in cells))
        any_cell = replace(next(iter(plan.cells())), workers=workers, preset=preset)
        scores = {
            (strategy, problem): results.finals(replace(any_cell, strategy=strategy, problem=problem))
            for strategy in strategies
            for problem in problems
        }
        return cls(plan.name, workers, preset, any_cell.budget, strategies, problems, scores)

    @property
    def two_sided(self) -> bool:
        """Whether methods are compared as the published code did, not as the paper says."""
        return self.preset == REFERENCE

    @cached_property
    def summaries(self) -> dict[tuple[str, str], Summary]:
        """Median and spread of what has been run, by strategy and problem."""
        return {key: summarize([*scores.values()]) for key, scores in self.scores.items() if scores}

    @cached_property
    def marks(self) -> dict[tuple[str, str], Mark]:
        """The best on each problem and its equivalents, by strategy and problem."""
        found = {}
        for problem in self.problems:
            column = {strategy: self.scores[strategy, problem] for strategy in self.strategies}
            for strategy, mark in marks(column, two_sided=self.two_sided).items():
                found[strategy, problem] = mark
        return found

    @cached_property
    def complete(self) -> tuple[str, ...]:
        """The problems that every method has run: only these can be counted."""
        return tuple(p for p in self.problems if all(self.scores[s, p] for s in self.strategies))

    @cached_property
    def counts(self) -> dict[str, int]:
        """On how many of the complete problems each method is the best or equivalent to it."""
        return {s: sum(bool(self.marks[s, p]) for p in self.complete) for s in self.strategies}

    @property
    def runs(self) -> tuple[int, int]:
        """The fewest and the most runs behind a number; (0, 0) if there are none."""
        numbers = [summary.n for summary in self.summaries.values()]
        return min(numbers, default=0), max(numbers, default=0)
