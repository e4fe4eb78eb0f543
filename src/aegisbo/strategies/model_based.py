"""What all model-based strategies do: fit, choose, avoid duplicates, say why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs, beliefs_of, fit_each
from aegisbo.strategies.checks import KnownParameters, check, optional, switch
from aegisbo.strategies.duplicates import Fallback, avoid_duplicates
from aegisbo.strategies.exact import Exact
from aegisbo.strategies.learned_limits import believe_in_limits, keeping_to, learned_keeping
from aegisbo.strategies.learned_success import believe_in_success
from aegisbo.strategies.moves.anywhere import anywhere
from aegisbo.strategies.moves.feasible import Feasible
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.repeat import REPEAT
from aegisbo.strategies.noisy_best import best_by_mean
from aegisbo.strategies.presets import DEFAULT_PRESET, Preset, name_or_preset, on_fronts, preset_named
from aegisbo.strategies.tilt import tilt_of

FEASIBLE = Feasible()


EXPLORATORY = ("thompson", "pareto", "elsewhere")  # moves that look at what there is to explore with


@dataclass(frozen=True, kw_only=True)
class ModelBased(KnownParameters, ABC):
    """A strategy that looks at a surrogate; subclasses only `decide`.

    Args:
        preset: the model and the search that it uses: a name, or a `Preset` of your own.
        guard: whether to avoid points that are finished or pending; None leaves this to the preset.
    """

    preset: str | Preset = DEFAULT_PRESET
    guard: bool | None = None

    def __post_init__(self) -> None:
        check(self, preset=name_or_preset, guard=optional(switch))

    @property
    def parts(self) -> Preset:
        """The surrogate, the search and the rest that the preset stands for."""
        return self.preset if isinstance(self.preset, Preset) else preset_named(self.preset)

    @abstractmethod
    def decide(self, turn: Turn) -> Decision:
        """Choose, given what the surrogate believes."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """One point, the memory after it and the reason for it."""
        if evidence.several and not self.parts.several:
            return replace(self, preset=on_fronts(self.parts)).suggest(evidence, memory, rng)
        if len(evidence.y) == 0:
            return Suggestion(anywhere(evidence.cube, rng)[0], memory, {"move": "initial"})
        fitting, deciding, replacing, learning = _streams(rng)
        belief, memory = self.fitted(evidence, memory, fitting, learning)
        turn = Turn(belief, evidence, self.parts.search, deciding, dict(memory))
        decision = FEASIBLE.choose(turn) or self.decide(turn)
        x, note = decision.choices[0], {"move": decision.move, **decision.note}
        guarded = self.parts.guard if self.guard is None else self.guard
        if guarded and decision.move != REPEAT and not evidence.must_repeat:
            fallbacks = self._fallbacks(decision.move, replace(turn, rng=replacing))
            widths = decision.belief.widths if decision.widths is None else decision.widths
            x, instead = avoid_duplicates(decision.choices, fallbacks, evidence, widths, replacing)
            note |= {} if instead is None else {"guard": instead}
        return Suggestion(x, turn.memory, {**note, **decision.belief.note(x)})

    def belief_of_choice(self, evidence: Evidence, memory: Memory, rng: Generator) -> Belief | Beliefs:
        """What the surrogate believes when `suggest` chooses with these random numbers."""
        fitting, _, _, learning = _streams(rng)
        return self.fitted(evidence, memory, fitting, learning)[0]

    def believe(self, evidence: Evidence, memory: Memory, rng: Generator) -> Belief | Beliefs:
        """What the surrogate believes after all finished evaluations, whatever is pending."""
        return self.fitted(evidence, memory, rng, rng)[0]

    def fitted(
        self, evidence: Evidence, memory: Memory, fitting: Generator, learning: Generator
    ) -> tuple[Belief | Beliefs, Memory]:
        """What the surrogate believes, with what is known of failures, limits and noise."""
        if evidence.several:
            return self._fitted_each(evidence, memory, fitting, learning)
        belief, memory = self.parts.surrogate.fit(evidence, memory, fitting)
        if self.parts.learns_success:
            success, memory = believe_in_success(evidence, memory, learning)
            belief = replace(belief, success=success)
        belief, memory = believe_in_limits(belief, evidence, memory, learning)
        return self._smoothed(replace(belief, tilt=tilt_of(evidence)), evidence), memory

    def _smoothed(self, belief: Belief, evidence: Evidence) -> Belief:
        """The belief in which points are as good as their means, if values are noisy."""
        return best_by_mean(belief, evidence) if evidence.noisy and self.parts.learns_noise else belief

    def _fitted_each(
        self, evidence: Evidence, memory: Memory, fitting: Generator, learning: Generator
    ) -> tuple[Beliefs, Memory]:
        """What the surrogate believes of each objective."""
        each, memory = fit_each(self.parts.surrogate, evidence, memory, fitting)
        success = None
        if self.parts.learns_success:
            success, memory = believe_in_success(evidence, memory, learning)
        keeping, memory = learned_keeping(evidence, memory, learning)
        told = [
            replace(belief, success=success, keeping=keeping)
            if isinstance(belief, Exact)
            else self._smoothed(keeping_to(replace(belief, success=success), keeping, alone), alone)
            for belief, alone in zip(each, evidence.each, strict=True)
        ]
        return beliefs_of(told, evidence, success, keeping, smooth=evidence.noisy and self.parts.learns_noise), memory

    def _fallbacks(self, move: str, turn: Turn) -> Iterator[Fallback]:
        """What to try after all choices of `move`: the Pareto set, then a sample path."""
        if move not in EXPLORATORY:
            yield "pareto", lambda: self.parts.pareto.choose(turn).choices
        if move != "thompson":
            yield "thompson", lambda: self.parts.thompson.choose(turn).choices


def _streams(rng: Generator) -> list[Generator]:
    """For the fit, the decision, the guard and the other models: leaving out a fit changes no other draw."""
    return rng.spawn(4)
