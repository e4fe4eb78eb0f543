"""Scores from the records: by run, and in a table of methods and problems as the paper prints it (section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from aegis_paper.plans import Plan
from aegis_paper.published import paper_name
from aegis_paper.records import Records
from aegis_paper.reference.registry import REFERENCE
from aegis_paper.runs import Cell, same_algorithm
from aegis_paper.statistics import Mark, mad, marks
from aegisbo.arrays import Array

Curves = Mapping[int, Array]  # by run: the score after each evaluation, (budget,)


class Results:
    """The scores of the runs in `records`; each cell is read once, and one without runs is empty."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._read: dict[Cell, Curves] = {}

    def curves(self, cell: Cell) -> Curves:
        """The score after each evaluation: the regret, or the best value where nobody knows the minimum."""
        cell = same_algorithm(cell)
        if cell not in self._read:
            self._read[cell] = self.records.curves(cell) if cell in self._on_record else {}
        return self._read[cell]

    @cached_property
    def _on_record(self) -> set[Cell]:
        """Asked once: of the thousands of cells in a plan most may be without runs."""
        return set(self.records.runs())

    def finals(self, cell: Cell) -> dict[int, float]:
        """The scores at the end of the budget, by run."""
        return {run: float(curve[-1]) for run, curve in self.curves(cell).items()}


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The final scores of some methods on some problems with one number of workers."""

    study: str
    workers: int
    preset: str
    budget: int
    scores: pd.DataFrame  # (runs, methods × problems), both in the order in which they are shown; NaN where not run
    guests: Mapping[str, str] = field(default_factory=dict)  # the presets of methods that are not of this one

    @classmethod
    def read(cls, results: Results, plan: Plan, workers: int, preset: str) -> ScoreTable:
        """What the records hold of a plan with so many workers, on single functions."""
        cells = [cell for cell in plan.cells() if cell.workers == workers and "#" not in cell.problem]
        strategies = dict.fromkeys(cell.strategy for cell in cells)
        problems = dict.fromkeys(cell.problem for cell in cells)
        like = replace(plan.one_setting(), workers=workers, preset=preset)
        scores = {
            (strategy, problem): results.finals(replace(like, strategy=strategy, problem=problem))
            for strategy in strategies
            for problem in problems
        }
        return cls(plan.name, workers, preset, like.budget, by_run(scores))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The methods, in order."""
        return tuple(self.scores.columns.unique("strategy"))

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, in order."""
        return tuple(self.scores.columns.unique("problem"))

    @property
    def two_sided(self) -> bool:
        """Whether methods are compared as the published code did, not as the paper says."""
        return self.preset == REFERENCE

    def on(self, problem: str) -> pd.DataFrame:
        """The scores on one problem, (runs, methods)."""
        return self.scores.xs(problem, axis="columns", level="problem")

    def with_runs_of(self, strategy: str, other: ScoreTable) -> ScoreTable:
        """The same table, with the runs of one method taken from another table."""
        rest = self.scores.drop(columns=strategy, level="strategy")
        theirs = other.scores.loc[:, [strategy]]
        scores = pd.concat([rest, theirs], axis="columns").reindex(columns=self.scores.columns)
        return replace(self, scores=scores)

    def beside(self, strategy: str, other: ScoreTable) -> ScoreTable:
        """The same table, and one more method at its end: this one, from a table of another preset."""
        name = f"{paper_name(strategy, self.study)} ({other.preset})"
        theirs = other.scores.loc[:, [strategy]].rename(columns={strategy: name}, level="strategy")
        scores = pd.concat([self.scores, theirs], axis="columns")
        return replace(self, scores=scores, guests={**self.guests, name: other.preset})

    def only(self, strategies: Sequence[str]) -> ScoreTable:
        """The same table, of these methods alone."""
        return replace(self, scores=self.scores.loc[:, [*strategies]])

    @property
    def run(self) -> tuple[str, ...]:
        """The methods that have runs, in order."""
        return tuple(self.summary.index.unique("strategy"))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The columns n, median and mad of what has been run, by strategy and problem."""
        run = self.scores.dropna(axis="columns", how="all")
        spread = [mad(run[column].dropna()) for column in run]
        return pd.DataFrame({"n": run.count(), "median": run.median(), "mad": spread})

    @cached_property
    def marks(self) -> dict[tuple[str, str], Mark]:
        """The best on each problem and its equivalents, by strategy and problem."""
        return {
            (strategy, problem): mark for problem in self.problems for strategy, mark in self._marks_on(problem).items()
        }

    def _marks_on(self, problem: str) -> dict[str, Mark]:
        sources = {strategy: self._source(strategy, problem) for strategy in self.strategies}
        return marks(self.on(problem), two_sided=self.two_sided, sources=sources)

    def _source(self, strategy: str, problem: str) -> Cell:
        """Whose runs these are: several methods share them where they are one algorithm."""
        cell = Cell(problem, strategy, self.guests.get(strategy, self.preset), self.workers)
        return cell if strategy in self.guests else same_algorithm(cell)

    @cached_property
    def complete(self) -> tuple[str, ...]:
        """The problems that every method has run: only these can be counted."""
        has_run = self.scores.notna().any()
        return tuple(problem for problem in self.problems if has_run.xs(problem, level="problem").all())

    @property
    def compared(self) -> tuple[str, ...]:
        """The complete problems on which the methods are not all one and the same, with one set of runs."""
        sources = {each: {self._source(strategy, each) for strategy in self.strategies} for each in self.complete}
        return tuple(problem for problem, of in sources.items() if len(of) > 1 or len(self.strategies) == 1)

    @cached_property
    def counts(self) -> dict[str, int]:
        """On how many of the complete problems each method is the best or equivalent to it."""
        return {s: sum(bool(self.marks[s, p]) for p in self.complete) for s in self.strategies}

    @property
    def runs(self) -> tuple[int, int]:
        """The fewest and the most runs behind a number; (0, 0) if there are none."""
        numbers = self.summary["n"].tolist()
        return min(numbers, default=0), max(numbers, default=0)


def by_run(scores: Mapping[tuple[str, str], Mapping[int, float]]) -> pd.DataFrame:
    """Scores by strategy and problem, and then by run, as a table with one row per run."""
    columns = [*zip(*scores, strict=True)] or [(), ()]
    names = pd.MultiIndex.from_arrays(columns, names=["strategy", "problem"])
    return pd.DataFrame({key: pd.Series(runs, dtype=float) for key, runs in scores.items()}, columns=names)
