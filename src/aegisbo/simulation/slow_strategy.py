"""A strategy whose choices take time on the virtual clock, as they do on a real one."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion


@dataclass(frozen=True)
class SlowStrategy:
    """Chooses like `strategy`, and lets the clock of the workers run while it does."""

    strategy: Strategy
    workers: VirtualWorkers
    seconds: float  # a choice

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """The same choice, later."""
        self.workers.spend(self.seconds)
        return self.strategy.suggest(evidence, memory, rng)
