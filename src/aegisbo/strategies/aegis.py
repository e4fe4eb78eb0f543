"""AEGiS: exploit, Thompson-sample, or pick from the Pareto set (Algorithm 1 of the paper).

Which moves these are, what is tried before them and which second thoughts there are about them, the preset says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from aegisbo.strategies import schedules
from aegisbo.strategies.checks import check, one_of, optional, share, switch
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.anywhere import Anywhere
from aegisbo.strategies.moves.move import Decision, Move, Turn
from aegisbo.strategies.moves.repeat import Repeat


class Stage(NamedTuple):
    """How far a run is."""

    first: bool  # whether this is the very first choice
    opening: bool  # whether no result has come in since the first choice


@dataclass(frozen=True)
class Opening(Remembered):
    """When the first choice was made."""

    opened_at: int  # results that there were then


@dataclass(frozen=True, kw_only=True)
class Aegis(ModelBased):
    """ε-greedy with two kinds of exploration.

    The very first choice exploits, whatever ε is. Until the next result comes in, all others explore, so a first batch
    holds the most exploitative point exactly once (end of section 3 of the paper).

    Args:
        preset: the model and the search that it uses: a name, or a `Preset` of your own.
        guard: whether to avoid points that are finished or pending; None leaves this to the preset.
        epsilon: ε, the share of exploratory moves: a number from 0 to 1, or one of "sqrt" (2/√d), "half" (1/√d),
            "faster" and "slower" for d parameters; None leaves this to the preset.
        gamma: γ, the share of Thompson sampling among the exploratory moves, from 0 to 1; the others pick from the
            Pareto set (ε_T = γ ε, ε_P = (1 − γ) ε).
        explore: "uniform" picks a random point instead of one from the Pareto set (AEGiS-RS).
        exploits: False gives the ablation without exploitation.

    Raises:
        InvalidInput: an argument is not valid.
    """

    weighs_time: ClassVar[bool] = True  # it can be told that evaluations cost time
    several_objectives: ClassVar[bool] = True

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

    @property
    def repeats(self) -> bool:
        """Whether it measures a point again where values are noisy."""
        return any(isinstance(thought, Repeat) for thought in self.parts.second_thoughts)

    def decide(self, turn: Turn) -> Decision:
        """Algorithm 1, lines 4 to 12: a coin picks the moves, and the first that applies chooses."""
        if self.repeats and (again := Repeat().choose(turn)):
            return again
        stage = self.stage(turn)
        r = turn.rng.random()  # line 4
        moves = self.moves(r, turn.evidence.cube.parameters, stage)
        decision = next(chosen for move in moves if (chosen := move.choose(turn)))
        for thought in self.parts.second_thoughts:
            decision = thought.instead(turn, decision) or decision
        return replace(decision, note={"coin": r})

    def moves(self, r: float, d: int, stage: Stage) -> tuple[Move, ...]:
        """What the coin r picks for d parameters, in the order in which it is tried; the last always applies."""
        parts = self.parts
        if stage.first and self.exploits:
            return (parts.exploit,)
        epsilon = 1.0 if stage.opening or not self.exploits else self.exploration(d)
        epsilon_p = (1.0 - self.gamma) * epsilon
        if r < 1.0 - epsilon:  # line 5
            return (*parts.before_exploit, parts.exploit)
        if r < 1.0 - epsilon_p:  # line 7
            return (parts.thompson,)
        return (parts.pareto if self.explore == "pareto" else Anywhere(),)  # line 10

    def stage(self, turn: Turn) -> Stage:
        """How far the run is, by the number of results."""
        results = len(turn.evidence.y) + len(turn.evidence.failed)
        known = turn.recall(Opening)
        opening = known or Opening(results)
        turn.remember(opening)
        return Stage(first=known is None, opening=opening.opened_at == results)

    def exploration(self, d: int) -> float:
        """ε for d parameters."""
        return schedules.exploration(self.parts.epsilon if self.epsilon is None else self.epsilon, d)
