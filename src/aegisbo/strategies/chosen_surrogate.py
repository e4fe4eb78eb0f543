"""The surrogate of the adaptive preset: several models, of which the data choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.surrogates import AdditiveSurrogate, is_due

EXPLORING = "wide"  # the name of the model that a ChosenSurrogate explores with
EVEN = "ranks"  # the name of the one on which noise is even
CLEARLY = 0.5  # log p of each value by which it must be better: where noise is normal, some are better by chance


@dataclass(frozen=True)
class Chosen(Remembered):
    """What several surrogates have learned, and which of them is used."""

    models: dict[str, Memory]  # by name
    used: str
    learned_at: int


@dataclass(frozen=True)
class ChosenSurrogate:
    """The adaptive preset's: several surrogates, of which the data choose. Each has a name and a memory of its own.

    Whenever they have learned, the one of `exploiting` that predicts the lowest values best is used until they learn
    again. Moves that explore use `exploring`, which also answers whoever asks for a prediction. Where values are noisy,
    `even` does both if it predicts all values better by `CLEARLY`: the lowest ones may be the luckiest.
    """

    exploiting: tuple[tuple[str, AdditiveSurrogate], ...]
    exploring: AdditiveSurrogate
    even: AdditiveSurrogate

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief of the one that is used now."""
        n, surrogates = len(evidence.y), self._surrogates(evidence)
        known = Chosen.recalled(memory)
        # An older version that has begun the run knew fewer models.
        if known is None or is_due(known.learned_at, n) or known.models.keys() != surrogates.keys():
            known = self._learned(surrogates, evidence, known or Chosen({}, self.exploiting[0][0], n), rng)
        belief, _ = surrogates[known.used].fit(evidence, known.models[known.used], rng)

        def explorer() -> Belief:
            return replace(self.exploring.fit(evidence, known.models[EXPLORING], rng)[0], model=EXPLORING)

        other = None if known.used == EVEN else explorer
        return replace(belief, model=known.used, explorer=other), {**memory, **known.kept()}

    def _surrogates(self, evidence: Evidence) -> dict[str, AdditiveSurrogate]:
        every = {**dict(self.exploiting), EXPLORING: self.exploring}
        return {**every, EVEN: self.even} if evidence.noisy else every

    def _learned(
        self, surrogates: Mapping[str, AdditiveSurrogate], evidence: Evidence, known: Chosen, rng: Generator
    ) -> Chosen:
        """What they have learned, first the one that was used, and the name of the one to use now."""
        learned, beliefs, rival = {}, {}, None
        for name in sorted(surrogates, key=lambda name: name != known.used):
            beliefs[name], learned[name] = surrogates[name].fit(evidence, known.models.get(name, {}), rng, rival)
            rival = np.array(learned[known.used]["phi"])
        used = max((name for name, _ in self.exploiting), key=lambda name: beliefs[name].skill(evidence.y))
        if EVEN in beliefs:
            of_values, of_ranks = (beliefs[name].skill(evidence.y, everywhere=True) for name in (used, EVEN))
            used = EVEN if of_ranks - of_values > CLEARLY * len(evidence.y) else used
        return Chosen(learned, used, len(evidence.y))
