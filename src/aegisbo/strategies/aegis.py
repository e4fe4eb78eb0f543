"""AEGiS: exploit, Thompson-sample, or pick from the Pareto set (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import without_penalties
from aegisbo.strategies import schedules
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.believer import believed_improvement, best_with
from aegisbo.strategies.checks import check, one_of, optional, share, switch
from aegisbo.strategies.elsewhere import descend, in_valley
from aegisbo.strategies.expected_improvement import improve
from aegisbo.strategies.local_quadratic import LocalModel, local_model, search_near
from aegisbo.strategies.model_based import REPEAT, Decision, ModelBased
from aegisbo.strategies.moves import anywhere, exploit, pareto, thompson
from aegisbo.strategies.per_second import Quickness
from aegisbo.strategies.repetition import most_decisive, with_new

GREEDY = ("exploit", "improve", "local")  # moves that a repetition may replace
TEMPERATURE = 5.0  # by which differences of log p are divided
CHANCES = (0.1, 0.6)  # of the local model at least and at most: there may be other valleys
KNOWN = 1e-7  # the bottom of a valley is known if less than this can be gained there, in units of the first values,
EXHAUSTED = 3e-10  # and the valley is exhausted if less than this can be gained


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

    weighs_time: ClassVar[bool] = True  # it can be told that evaluations cost time

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
        return self.parts.learns_noise

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Algorithm 1, lines 4 to 12; where values are noisy, perhaps a point that is known instead of a greedy one."""
        if not (evidence.noisy and self.repeats and evidence.cube.size < inf):
            return self._decide(belief, evidence, memory, rng)
        if evidence.cube.exhausted(evidence.taken):
            return Decision(most_decisive(belief.gp, evidence)[0][None, :], {"move": REPEAT}, memory)
        decision = self._decide(belief, evidence, memory, rng)
        fresh = [x for x in decision.choices if not (evidence.taken == x).all(axis=1).any()]
        if decision.note["move"] not in GREEDY or not fresh:
            return decision
        known, expected = most_decisive(belief.gp, evidence)
        if expected >= with_new(belief.gp, evidence, fresh[0]):
            return decision
        return replace(decision, choices=known[None, :], note={**decision.note, "move": REPEAT})

    def _decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        first, opening, memory = self._stage(evidence, memory)
        r = rng.random()  # line 4
        move = self._move(r, evidence.cube.parameters, first=first, opening=opening)
        if move == "exploit" and not first and self._knows_a_neighborhood(evidence):
            near, memory = self._near(evidence, memory)
            if rng.random() < preference(near.skill(evidence.y), belief.skill(evidence.y)):
                objective = near.improvement(evidence, belief.chance)
                choices = search_near(objective, evidence.cube, rng)
                gain = near.gain(objective, choices[0])
                memory = {**memory, "bottom": float(evidence.y.min()) - gain}
                if gain > EXHAUSTED * early_unit(evidence):
                    return Decision(choices, {"move": "local", "coin": r}, memory, objective.neighborhood.widths)
                move = self.explore  # this valley is exhausted
        choices = self._choices(move, belief, evidence, rng)
        if move == "exploit" and self._is_spent(choices[0], belief, evidence.pending):
            move = "improve"
            promise = believed_improvement(belief, evidence.pending)
            factors = () if evidence.price is None else (Quickness(evidence.price),)
            choices = improve(promise, belief, evidence.cube, self.parts.search, rng, *factors)
        explores = move != "exploit" and evidence.price is None  # a descent does not look at the clock
        if explores and knows_its_valley(evidence, memory) and in_valley(choices[:1], evidence)[0]:
            move, choices = "elsewhere", descend(belief.exploring, evidence, rng)
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

    def _knows_a_neighborhood(self, evidence: Evidence) -> bool:
        """Whether there may be a model of the lowest points alone: one value for each coefficient of a quadratic."""
        n, d = evidence.X.shape
        free = evidence.cube.continuous and evidence.cube.rules is None and evidence.excess is None
        free = free and evidence.sd is None  # of which it knows nothing
        return self.parts.adaptive and free and n >= (d + 1) * (d + 2) / 2

    def _near(self, evidence: Evidence, memory: Memory) -> tuple[LocalModel, Memory]:
        """The model of the lowest points; it learns afresh when the surrogate does."""
        afresh = "near" not in memory or memory.get("learned_at") == len(evidence.y)
        near = local_model(evidence, None if afresh else np.array(memory["near"]))
        return near, {**memory, "near": near.gp.phi.tolist()}

    def _is_spent(self, x: Array, belief: Belief, pending: Array) -> bool:
        """Whether the lowest mean, at x (width,), promises too little beside what is known or pending."""
        least = self.parts.least_promise
        if least is None:
            return False
        best = best_with(belief, pending) if self.parts.adaptive else belief.best
        return best - float(belief.gp.mean(x[None, :])[0]) < least

    def exploration(self, d: int) -> float:
        """ε for d parameters."""
        return schedules.exploration(self.parts.epsilon if self.epsilon is None else self.epsilon, d)

    def _choices(self, move: str, belief: Belief, evidence: Evidence, rng: Generator) -> Array:
        match move:
            case "exploit":
                return exploit(belief, evidence, self.parts.search, rng)
            case "thompson":
                return thompson(belief.exploring, evidence, self.parts.search, self.parts.features, rng)
            case "pareto":
                return pareto(belief.exploring, evidence, self.parts.front, rng)
            case _:
                return anywhere(evidence.cube, rng)


def knows_its_valley(evidence: Evidence, memory: Memory) -> bool:
    """Whether the best value is where the local model has seen the bottom of a valley, and no failures cut it off."""
    left = abs(float(evidence.y.min()) - float(memory.get("bottom", inf)))
    return left < KNOWN * early_unit(evidence) and not in_valley(evidence.failed, evidence).any()


def early_unit(evidence: Evidence) -> float:
    """By how much the first values that are no penalties differ, below their median."""
    early = without_penalties(evidence.y)[: 2 * evidence.cube.parameters]
    with np.errstate(over="ignore"):
        return float(np.median(early) - early.min())


def preference(one: float, other: float) -> float:
    """How often to use a model rather than another one, given how well they predict the lowest values: log p.

    It is tempered, because neighbors are not independent.
    """
    return float(np.clip(expit((one - other) / TEMPERATURE), *CHANCES))
