"""Deviation `pending`: Kriging Believer, local penalization and PLAyBOOK saw pending points in the first batch only.

The paper: every choice takes into account all points under evaluation.
The code: within the first batch each choice takes into account those before it. Later the pending points are handed
over and stored, and nobody reads them: all three maximize expected improvement on the completed points alone.

What it changes: from the second batch on the three are the same method, blind to what the other workers are doing,
and the more workers there are the more often they choose the same point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion


@dataclass(frozen=True)
class FirstBatchOnly:
    """A strategy that is not shown any pending point once a result has come in after its first choice."""

    inner: Strategy

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """What the inner strategy chooses."""
        results = len(evidence.y) + len(evidence.failed)
        opened_at = memory.get("opened_at", results)
        if results > opened_at:
            evidence = replace(evidence, pending=evidence.pending[:0])
        suggestion = self.inner.suggest(evidence, memory, rng)
        return replace(suggestion, memory={**suggestion.memory, "opened_at": opened_at})
