"""AEGiS: exploit, Thompson-sample, or pick from the Pareto set (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.model_based import Decision, ModelBased
from aegisbo.strategies.moves import anywhere, exploit, pareto, thompson
from aegisbo.strategies.surrogate import Belief

Schedule = Callable[[int], float]  # ε(d), the share of exploratory moves


def by_sqrt(d: int) -> float:
    """2/√d, the paper's choice."""
    return min(2.0 / sqrt(d), 1.0)


def faster(d: int) -> float:
    """2/(d − 2): exploration falls faster with the dimension."""
    return 2.0 / (max(d, 4) - 2)


def slower(d: int) -> float:
    """2/ln(d + 3): exploration falls more slowly with the dimension."""
    return min(2.0 / log(d + 3), 1.0)


@dataclass(frozen=True)
class Always:
    """The same share in every dimension."""

    share: float

    def __call__(self, d: int) -> float:
        return self.share


@dataclass(frozen=True, kw_only=True)
class Aegis(ModelBased):
    """ε-greedy with two kinds of exploration.

    The very first choice exploits whatever ε is, and until a result has come in after it all others explore, so that
    a first batch holds the most exploitative point exactly once (end of section 3 of the paper).
    """

    epsilon: Schedule = by_sqrt
    gamma: float = 0.5  # ε_T = γ ε, ε_P = (1 − γ) ε
    explore: Literal["pareto", "uniform"] = "pareto"  # uniform: AEGiS-RS
    exploits: bool = True  # False: the ablation without exploitation

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Algorithm 1, lines 4 to 12."""
        first, opening, memory = self._stage(evidence, memory)
        r = rng.random()  # line 4
        move = self._move(r, evidence.cube.parameters, first=first, opening=opening)
        return Decision(self._choices(move, belief, evidence, rng), {"move": move, "coin": r}, memory)

    def _stage(self, evidence: Evidence, memory: Memory) -> tuple[bool, bool, Memory]:
        """Whether this is the first choice, whether it is one of the first batch, and the memory after it."""
        results = len(evidence.y) + len(evidence.failed)
        opened_at = memory.get("opened_at", results)
        return "opened_at" not in memory, opened_at == results, {**memory, "opened_at": opened_at}

    def _move(self, r: float, d: int, *, first: bool, opening: bool) -> str:
        if first and self.exploits:
            return "exploit"
        epsilon = 1.0 if opening or not self.exploits else self.epsilon(d)
        epsilon_p = (1.0 - self.gamma) * epsilon
        if r < 1.0 - epsilon:  # line 5
            return "exploit"
        return "thompson" if r < 1.0 - epsilon_p else self.explore  # lines 7 and 10

    def _choices(self, move: str, belief: Belief, evidence: Evidence, rng: Generator) -> Array:
        gp, cube, preset = belief.gp, evidence.cube, self.preset
        match move:
            case "exploit":
                return exploit(gp, cube, preset.search, rng)
            case "thompson":
                return thompson(gp, cube, preset.search, preset.features, rng)
            case "pareto":
                return pareto(gp, cube, rng)
            case _:
                return anywhere(cube, rng)
