"""Deviation `choice`: when AEGiS was allowed to exploit.

The paper: the first of the first q choices exploits, the other q − 1 explore, then ε decides.
The code: it counts choices from 0 over the whole run. Number 0 exploits only if ε(d) < 1, that is if d > 4; numbers
1 to q explore, one more than the paper has; then ε decides.

What it changes: up to four dimensions nothing is ever exploited, so AEGiS, its ablation without exploitation and both
other schedules are the same algorithm there.
"""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.strategies.aegis import Aegis, Stage
from aegisbo.strategies.moves.move import Turn


@dataclass(frozen=True, kw_only=True)
class CountingAegis(Aegis):
    """AEGiS that counts its choices and knows how many workers there are."""

    workers: int

    def stage(self, turn: Turn) -> Stage:
        """By the number of the choice alone."""
        number = turn.memory.get("choices", 0)
        turn.memory["choices"] = number + 1
        first = number == 0 and self.exploration(turn.evidence.cube.parameters) < 1.0
        return Stage(first, opening=number <= self.workers)
