"""AEGiS: exploit, Thompson-sample, or pick from the Pareto set (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.strategies import schedules
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.believer import believed_improvement
from aegisbo.strategies.checks import check, one_of, optional, share, switch
from aegisbo.strategies.expected_improvement import improve
from aegisbo.strategies.model_based import Decision, ModelBased
from aegisbo.strategies.moves import anywhere, exploit, pareto, thompson
from aegisbo.strategies.surrogates import Belief


@dataclass(frozen=True, kw_only=True)
class Aegis(ModelBased):
    """ε-greedy with two kinds of exploration.

    The very first choice exploits whatever ε is, and until a result has come in after it all others explore, so that
    a first batch holds the most exploitative point exactly once (end of section 3 of the paper).

    Args:
        preset: which surrogate and which inner search: a name, or a `Preset` of your own.
        guard: whether a point that is finished or pending may not be chosen again; None: as the preset says.
        epsilon: ε, the share of exploratory moves: a number from 0 to 1, or one of "sqrt" (2/√d), "half" (1/√d),
            "faster" and "slower" for d parameters; None: as the preset says.
        gamma: γ, the share of Thompson sampling among the exploratory moves, from 0 to 1; the others pick from the
            Pareto set (ε_T = γ ε, ε_P = (1 − γ) ε).
        explore: "uniform" picks a random point instead of one from the Pareto set (AEGiS-RS).
        exploits: False for the ablation without exploitation.

    Raises:
        InvalidInput: a value is none of these.
    """

    epsilon: str | float | None = None
    gamma: float = 0.5
    explore: Literal["pareto", "uniform"] = "pareto"
    exploits: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check(
            self,
            epsilon=optional(schedules.epsilon),
            gamma=share,
            explore=one_of("pareto", "uniform"),
            exploits=switch,
        )

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Algorithm 1, lines 4 to 12."""
        first, opening, memory = self._stage(evidence, memory)
        r = rng.random()  # line 4
        move = self._move(r, evidence.cube.parameters, first=first, opening=opening)
        choices = self._choices(move, belief, evidence, rng)
        if move == "exploit" and self._is_spent(choices[0], belief):
            move = "improve"
            choices = improve(believed_improvement(belief, evidence.pending), evidence.cube, self.parts.search, rng)
        return Decision(choices, {"move": move, "coin": r}, memory)

    def _stage(self, evidence: Evidence, memory: Memory) -> tuple[bool, bool, Memory]:
        """Whether this is the first choice, whether it is one of the first batch, and the memory after it."""
        results = len(evidence.y) + len(evidence.failed)
        opened_at = memory.get("opened_at", results)
        return "opened_at" not in memory, opened_at == results, {**memory, "opened_at": opened_at}

    def _move(self, r: float, d: int, *, first: bool, opening: bool) -> str:
        if first and self.exploits:
            return "exploit"
        epsilon = 1.0 if opening or not self.exploits else self.exploration(d)
        epsilon_p = (1.0 - self.gamma) * epsilon
        if r < 1.0 - epsilon:  # line 5
            return "exploit"
        return "thompson" if r < 1.0 - epsilon_p else self.explore  # lines 7 and 10

    def _is_spent(self, x: Array, belief: Belief) -> bool:
        """Whether the lowest mean, at x (width,), promises too little to be worth an evaluation."""
        least = self.parts.least_promise
        return least is not None and belief.best - float(belief.gp.mean(x[None, :])[0]) < least

    def exploration(self, d: int) -> float:
        """ε for d parameters."""
        return schedules.exploration(self.parts.epsilon if self.epsilon is None else self.epsilon, d)

    def _choices(self, move: str, belief: Belief, evidence: Evidence, rng: Generator) -> Array:
        gp, cube, parts = belief.gp, evidence.cube, self.parts
        match move:
            case "exploit":
                return exploit(gp, cube, parts.search, rng)
            case "thompson":
                return thompson(gp, cube, parts.search, parts.features, rng)
            case "pareto":
                return pareto(gp, cube, parts.front, rng)
            case _:
                return anywhere(cube, rng)
