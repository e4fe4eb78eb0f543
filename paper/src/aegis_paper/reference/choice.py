"""Deviation `choice`: when AEGiS was allowed to exploit.

The paper: the first of the first q choices exploits, the other q − 1 explore, then ε decides.
The code: it counts choices from 0 over the whole run. Number 0 exploits only if ε(d) < 1, that is if d > 4; numbers
1 to q explore, one more than the paper has; then ε decides.

What it changes: up to four dimensions nothing is ever exploited, so AEGiS, its ablation without exploitation and both
other schedules are the same algorithm there.
"""

from __future__ import annotations

from dataclasses import dataclass

from aegis_paper.reference.moves import AegisWithMoves
from aegisbo.strategies.base import Evidence, Memory


@dataclass(frozen=True, kw_only=True)
class CountingAegis(AegisWithMoves):
    """AEGiS that counts its choices and knows how many workers there are."""

    workers: int

    def _stage(self, evidence: Evidence, memory: Memory) -> tuple[bool, bool, Memory]:
        """By the number of the choice alone."""
        number = memory.get("choices", 0)
        first = number == 0 and self.exploration(evidence.cube.parameters) < 1.0
        return first, number <= self.workers, {**memory, "choices": number + 1}
