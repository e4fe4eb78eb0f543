"""The surrogate of the adaptive preset: several models, of which the data choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegisbo.gp.thinning import lowest_apart
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.surrogates import LEARNED_FROM, AdditiveSurrogate, Learned, is_due

EXPLORING = "wide"  # the name of the model that a ChosenSurrogate explores with
COARSE = "coarse"  # the name of the one that explores instead where that one sees no further than one ripple
RIPPLE = 0.02  # how far around the coarse model has no other value, in each coordinate
NARROW = 3.0 * RIPPLE  # length scale of the exploring model below which a coarse one is learned
WIDER = 4.0  # how many times longer the length scale of the coarse model must be for it to be used
TOO_WIDE = 0.5  # length scale of the coarse model from which on it would lead nowhere


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
    memory of its own. With more data than are learned from, the choice is settled: the one that is used learns alone,
    and serves all.

    Where a run has gathered its points in one ripple of many, `exploring` may learn length scales as short as that. All
    else is unknown to it then, and nothing leads to where ripples are lower. A model that is given only the lowest
    value of each ripple sees how these change, and explores in its place.
    """

    exploiting: tuple[tuple[str, AdditiveSurrogate], ...]
    exploring: AdditiveSurrogate

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief of the one that is used now."""
        n = len(evidence.y)
        known = Chosen.recalled(memory)
        if known is None or is_due(known.learned_at, n):
            known = self._learned(evidence, known or Chosen({}, self.exploiting[0][0], n), rng)
        models = known.models
        belief, _ = self._surrogates[known.used].fit(evidence, models[known.used], rng)

        def wide() -> Belief:
            return replace(self.exploring.fit(evidence, models[EXPLORING], rng)[0], model=EXPLORING)

        def coarse() -> Belief:
            few = _of_ripples(evidence)
            learned = {**models[COARSE], "learned_at": len(few.y)}  # not due before the others
            return replace(self.exploring.fit(few, learned, rng)[0], model=COARSE)

        belief = replace(
            belief,
            model=known.used,
            wide=wide if EXPLORING in models else None,
            coarse=coarse if COARSE in models else None,
            fresh=known.learned_at == n,
        )
        return belief, {**memory, **known.kept()}

    @property
    def _surrogates(self) -> dict[str, AdditiveSurrogate]:
        return {**dict(self.exploiting), EXPLORING: self.exploring}

    def _learned(self, evidence: Evidence, known: Chosen, rng: Generator) -> Chosen:
        """What they have learned, first the one that was used, and the name of the one to use now."""
        n, used, models = len(evidence.y), known.used, known.models
        others = [name for name in self._surrogates if name != used and n <= LEARNED_FROM]
        learned, skills, rival = {}, {}, None
        for name in (used, *others):
            belief, learned[name] = self._surrogates[name].fit(evidence, models.get(name, {}), rng, rival)
            skills[name] = belief.skill(evidence.y)
            rival = np.array(learned[used]["phi"])
        used = max((name for name in skills if name != EXPLORING), key=skills.__getitem__)
        if EXPLORING in learned and _reach(learned[EXPLORING]) < NARROW:
            before = {**models[COARSE], "learned_at": 0} if COARSE in models else {}  # it is due
            _, coarse = self.exploring.fit(_of_ripples(evidence), before, rng)
            if WIDER * _reach(learned[EXPLORING]) < _reach(coarse) < TOO_WIDE:
                learned[COARSE] = coarse
        return Chosen(learned, used, n)


def _of_ripples(evidence: Evidence) -> Evidence:
    """The lowest value of each ripple."""
    return evidence.only(lowest_apart(evidence.X, evidence.y, RIPPLE))


def _reach(learned: Memory) -> float:
    """The geometric mean of the length scales of the joint kernel."""
    return float(np.exp(np.log(Learned(**learned).hyperparameters.lengthscale).mean()))
