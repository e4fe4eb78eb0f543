"""The surrogate of the adaptive preset: several models, of which the data choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.surrogates import AdditiveSurrogate, is_due

EXPLORING = "wide"  # the name of the model that a ChosenSurrogate explores with


@dataclass(frozen=True)
class Chosen(Remembered):
    """What several surrogates have learned, and which of them is used."""

    models: dict[str, Memory]  # by name
    used: str
    learned_at: int


@dataclass(frozen=True)
class ChosenSurrogate:
    """The adaptive preset's: several surrogates, of which the data choose.

    Whenever they have learned, the one of `exploiting` that predicts the lowest values best is used until they learn
    again. Moves that explore use `exploring`, which also answers whoever asks for a prediction. Each has a name, and a
    memory of its own.
    """

    exploiting: tuple[tuple[str, AdditiveSurrogate], ...]
    exploring: AdditiveSurrogate

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief of the one that is used now."""
        n = len(evidence.y)
        known = Chosen.recalled(memory)
        # A run of over 500 results that an older version has begun knows only one of the models.
        if known is None or is_due(known.learned_at, n) or EXPLORING not in known.models:
            known = self._learned(evidence, known or Chosen({}, self.exploiting[0][0], n), rng)
        belief, _ = self._surrogates[known.used].fit(evidence, known.models[known.used], rng)

        def explorer() -> Belief:
            return replace(self.exploring.fit(evidence, known.models[EXPLORING], rng)[0], model=EXPLORING)

        return replace(belief, model=known.used, explorer=explorer), {**memory, **known.kept()}

    @property
    def _surrogates(self) -> dict[str, AdditiveSurrogate]:
        return {**dict(self.exploiting), EXPLORING: self.exploring}

    def _learned(self, evidence: Evidence, known: Chosen, rng: Generator) -> Chosen:
        """What they have learned, first the one that was used, and the name of the one to use now."""
        used = known.used
        learned, skills, rival = {}, {}, None
        for name in sorted(self._surrogates, key=lambda name: name != used):
            belief, learned[name] = self._surrogates[name].fit(evidence, known.models.get(name, {}), rng, rival)
            skills[name] = belief.skill(evidence.y)
            rival = np.array(learned[used]["phi"])
        used = max((name for name, _ in self.exploiting), key=skills.__getitem__)
        return Chosen(learned, used, len(evidence.y))
