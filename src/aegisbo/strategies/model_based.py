"""What all model-based strategies do: fit, choose, avoid duplicates, say why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence, Memory, Note, Suggestion
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.checks import KnownParameters, check, optional, switch
from aegisbo.strategies.duplicates import Fallback, avoid_duplicates
from aegisbo.strategies.limits import approach, believe_in_limits
from aegisbo.strategies.moves import EXPLORATORY, anywhere, pareto, thompson
from aegisbo.strategies.noisy_best import best_by_mean
from aegisbo.strategies.presets import DEFAULT_PRESET, Preset, name_or_preset, preset_named
from aegisbo.strategies.success import believe_in_success

REPEAT = "repeat"  # the move that wants a point which is taken


@dataclass(frozen=True)
class Decision:
    """What a strategy wants, before it is checked whether the point is taken."""

    choices: Array  # (k, width) in order of preference
    note: Note  # note["move"] names the move
    memory: Memory
    widths: Array | None = None  # (width,) in which closeness is measured; the model's length scales unless given


@dataclass(frozen=True, kw_only=True)
class ModelBased(KnownParameters, ABC):
    """A strategy that looks at a surrogate; subclasses only `decide`.

    Args:
        preset: which surrogate and which inner search: a name, or a `Preset` of your own.
        guard: whether a point that is finished or pending may not be chosen again; None: as the preset says.
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
    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Choose, given what the surrogate believes."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """One point, the memory after it and the reason for it."""
        if len(evidence.y) == 0:
            return Suggestion(anywhere(evidence.cube, rng)[0], memory, {"move": "initial"})
        fitting, deciding, replacing, learning = _streams(rng)
        belief, memory = self.fitted(evidence, memory, fitting, learning)
        if belief.keeping is None or evidence.kept.any():
            decision = self.decide(belief, evidence, memory, deciding)
        else:
            choices = approach(belief, evidence, self.parts.search, self.parts.features, deciding)
            decision = Decision(choices, {"move": "feasible"}, memory)
        x, note = decision.choices[0], dict(decision.note)
        told = belief.exploring if note["move"] in EXPLORATORY else belief
        guarded = self.parts.guard if self.guard is None else self.guard
        if guarded and note["move"] != REPEAT and not evidence.must_repeat:
            fallbacks = self._fallbacks(str(note["move"]), belief, evidence, replacing)
            widths = told.gp.kernel.lengthscale if decision.widths is None else decision.widths
            x, instead = avoid_duplicates(decision.choices, fallbacks, evidence, widths, replacing)
            note |= {} if instead is None else {"guard": instead}
        return Suggestion(x, decision.memory, {**note, **told.note(x)})

    def belief_of_choice(self, evidence: Evidence, memory: Memory, rng: Generator) -> Belief:
        """What the surrogate believes when `suggest` chooses with these random numbers."""
        fitting, _, _, learning = _streams(rng)
        return self.fitted(evidence, memory, fitting, learning)[0]

    def believe(self, evidence: Evidence, memory: Memory, rng: Generator) -> Belief:
        """What the surrogate believes after all finished evaluations, whatever is pending."""
        return self.fitted(evidence, memory, rng, rng)[0]

    def fitted(
        self, evidence: Evidence, memory: Memory, fitting: Generator, learning: Generator
    ) -> tuple[Belief, Memory]:
        """What the surrogate believes, and of failures what is known, where that is another matter."""
        belief, memory = self.parts.surrogate.fit(evidence, memory, fitting)
        if self.parts.learns_success:
            success, memory = believe_in_success(evidence, memory, learning)
            belief = replace(belief, success=success)
        belief, memory = believe_in_limits(belief, evidence, memory, learning)
        if evidence.noisy and self.parts.learns_noise:
            belief = best_by_mean(belief, evidence)
        return belief, memory

    def smoothed(self, evidence: Evidence, memory: Memory, rng: Generator) -> Array:  # (n,)
        """The posterior mean at every finished point, in the units of `evidence.y`."""
        belief = self.believe(evidence, memory, rng)
        return belief.scale.measured(by_blocks(belief.gp.mean, evidence.X))

    def _fallbacks(self, move: str, belief: Belief, evidence: Evidence, rng: Generator) -> Iterator[Fallback]:
        """What to try after all choices of `move`: the Pareto set, then a sample path."""
        parts, belief = self.parts, belief.exploring
        if move not in EXPLORATORY:
            yield "pareto", lambda: pareto(belief, evidence, parts.front, rng)
        if move != "thompson":
            yield "thompson", lambda: thompson(belief, evidence, parts.search, parts.features, rng)


def _streams(rng: Generator) -> list[Generator]:
    """For the fit, the decision, the guard and the other models: leaving out a fit changes no other draw."""
    return rng.spawn(4)
