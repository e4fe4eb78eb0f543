"""Points spread over the cube without looking at any result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from numpy.random import Generator, default_rng

from aegisbo.arrays import Array
from aegisbo.search.designs import maximin_latin_hypercube, sobol
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.checks import KnownParameters, check, count, optional
from aegisbo.strategies.moves.anywhere import anywhere


@dataclass(frozen=True, kw_only=True)
class Random(KnownParameters):
    """Maximin Latin hypercubes of n points, one after another (the paper's baseline); without n, a Sobol sequence.

    With constraints, points are random among those allowed.

    Args:
        n: how many points one Latin hypercube has; None uses a Sobol sequence.

    Raises:
        InvalidInput: n is not a whole number from 1 upwards.
    """

    n: int | None = None
    several_objectives: ClassVar = True

    def __post_init__(self) -> None:
        check(self, n=optional(count))

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """The next point of the design whose seed was drawn when it began."""
        if evidence.cube.rules is not None:
            return Suggestion(anywhere(evidence.cube, rng)[0], memory, {"move": "random"})
        index = memory.get("next", 0)
        if not memory or index == self.n:
            memory, index = {"seed": int(rng.integers(2**63))}, 0
        d, seed = evidence.cube.parameters, memory["seed"]
        n = self.n
        u = sobol(1, d, default_rng(seed), skip=index) if n is None else _latin_hypercube(seed, n, d)[[index]]
        return Suggestion(evidence.cube.fill(u)[0], {**memory, "next": index + 1}, {"move": "random"})


@lru_cache(maxsize=1)
def _latin_hypercube(seed: int, n: int, d: int) -> Array:  # (n, d)
    return maximin_latin_hypercube(n, d, default_rng(seed))
