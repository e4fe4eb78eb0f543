"""One run of the paper: a simulated run whose preset may also name deviations of the published code, or factors."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import cache

from aegis_paper import factors, reference
from aegisbo.simulation import runs
from aegisbo.simulation.problem import Problem
from aegisbo.simulation.problems import dimension
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Strategy


@dataclass(frozen=True, kw_only=True)
class Spec(runs.Spec):
    """Everything that decides a run; presets are those of aegisbo, `reference` with its deviations, and `factors`."""

    preset: str = "paper"

    def make_problem(self) -> Problem:
        """The problem, as the published code had it if the preset says so."""
        problem = super().make_problem()
        return reference.as_published(problem) if "problems" in self._deviations else problem

    def make_strategy(self) -> Strategy:
        """The strategy, with the deviations or at the levels that the preset names."""
        levels = factors.levels_of(self.preset)
        if levels is not None:
            return factors.resolve(self.strategy_text, levels)
        if self._deviations:
            return reference.resolve(self.strategy_text, self.workers, self._deviations)
        return super().make_strategy()

    @property
    def _deviations(self) -> reference.Deviations:
        return deviations_of(self.preset)


def deviations_of(preset: str) -> reference.Deviations:
    """The deviations of the published code that a preset names; raises if there is no such preset."""
    return frozenset() if factors.levels_of(preset) else reference.deviations_of(preset)


@dataclass(frozen=True)
class Cell:
    """What repeated runs have in common: they differ in their number only."""

    problem: str
    strategy: str
    preset: str
    workers: int
    budget: int = 200
    law: str = "half-normal"
    seed: int = 0

    @classmethod
    def of(cls, spec: runs.Spec) -> Cell:
        """The cell that a run belongs to."""
        return cls(**{field.name: getattr(spec, field.name) for field in fields(cls)})

    def spec(self, run: int) -> Spec:
        """The run with this number."""
        return Spec(**asdict(self), run=run)


@cache
def same_algorithm(cell: Cell) -> Cell:
    """The cell whose runs serve for this one too.

    Schedules of ε that give the same share for the problem's number of coordinates are one algorithm. With the paper's
    presets all of them explore always on up to four coordinates, so the plans run AEGiS only once there.
    """
    plain = replace(cell, strategy=cell.strategy.partition(":epsilon=")[0])
    d = dimension(cell.problem)
    return plain if plain != cell and _exploration(plain, d) == _exploration(cell, d) else cell


def _exploration(cell: Cell, d: int) -> float | None:
    strategy = cell.spec(0).make_strategy()
    return strategy.exploration(d) if isinstance(strategy, Aegis) else None
