"""One run of the paper: a simulated run whose preset may also name deviations of the published code."""

from __future__ import annotations

from dataclasses import dataclass

from aegis_paper import reference
from aegisbo.simulation import runs
from aegisbo.simulation.problem import Problem
from aegisbo.strategies.base import Strategy


@dataclass(frozen=True, kw_only=True)
class Spec(runs.Spec):
    """Everything that decides a run; presets are those of aegisbo, and `reference` with or without its deviations."""

    preset: str = "paper"

    def make_problem(self) -> Problem:
        """The problem, as the published code had it if the preset says so."""
        problem = super().make_problem()
        return reference.as_published(problem) if "problems" in self._deviations else problem

    def make_strategy(self) -> Strategy:
        """The strategy, with the deviations of the preset."""
        if self._deviations:
            return reference.resolve(self.strategy_text, self.workers, self._deviations)
        return super().make_strategy()

    @property
    def _deviations(self) -> reference.Deviations:
        return reference.deviations_of(self.preset)
