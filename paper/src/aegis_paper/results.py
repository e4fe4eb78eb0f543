"""The scores in a folder of records, as the analysis wants them: by run, for a method on a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aegis_paper.analysis import Scores
from aegis_paper.records import Cell, Records
from aegisbo.arrays import Array
from aegisbo.simulation.problems import get

Curves = Mapping[int, Array]  # by run: the score after each evaluation, (budget,)


class Results:
    """What the runs in `records` came to; each cell is read once, and one without runs is empty."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._read: dict[Cell, Curves] = {}

    def curves(self, cell: Cell) -> Curves:
        """The score after each evaluation: the regret, or the best value where nobody knows the minimum."""
        cell = replace(cell, strategy=_same_algorithm(cell.strategy, cell.problem))
        if cell not in self._read:
            self._read[cell] = {record.spec.run: record.scores for record in self.records.load(cell)}
        return self._read[cell]

    def finals(self, cell: Cell) -> Scores:
        """The scores at the end of the budget."""
        return {run: float(curve[-1]) for run, curve in self.curves(cell).items()}


def _same_algorithm(strategy: str, problem: str) -> str:
    """The strategy whose runs serve: up to four coordinates all schedules of ε are one, which only explores."""
    return strategy.partition(":epsilon=")[0] if get(problem).d <= 4 else strategy
