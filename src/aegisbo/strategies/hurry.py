"""Another point instead of one whose evaluation would probably not be finished in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.errors import NoTime
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.duplicates import DRAWS, is_taken
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.anywhere import anywhere
from aegisbo.strategies.moves.on_fronts import believed_addition
from aegisbo.strategies.normal import log_cdf_and_slope
from aegisbo.strategies.pending import believed_improvement
from aegisbo.strategies.product import Product, product

SHARPEST = 0.05  # standard deviation of log seconds, so that the chance to be in time has a slope


@dataclass(frozen=True)
class InTime:
    """−log of what expected improvement is multiplied by: the chance to end within the seconds that are left."""

    durations: Durations
    limit: float

    def screen(self, Z: Array) -> Array:
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        spread = max(self.durations.spread, SHARPEST)
        expected, gradient = self.durations.log_seconds(Z)
        z = (np.log(self.limit) - expected) / spread
        value, slope = log_cdf_and_slope(z)
        return -value, (slope / spread)[:, None] * gradient


def in_time(suggestion: Suggestion, strategy: Strategy | None, evidence: Evidence, rng: Generator) -> Suggestion:
    """The suggestion, or another one if its evaluation would probably not end in time.

    Args:
        suggestion: of the strategy, or of a space-filling sequence.
        strategy: who made it. One with a model maximizes expected improvement times the chance to be in time; else
            points are picked at random.
        evidence: what is known; it says how long evaluations take and how much time is left.
        rng: decides what is picked.

    Raises:
        NoTime: no such point was found.
    """
    timing = evidence.timing
    if timing is None or timing.fits(np.atleast_2d(suggestion.x))[0]:
        return suggestion
    if timing.limit and timing.durations is not None and timing.durations.informed:
        chance = InTime(timing.durations, timing.limit)
        move, choices = _choices(strategy, suggestion.memory, evidence, chance, rng)
        for x in choices[timing.fits(choices)]:
            if evidence.must_repeat or not is_taken(x, evidence.taken, np.ones(len(x))):
                return Suggestion(x, suggestion.memory, {"move": move, "within_seconds": timing.limit})
    raise NoTime(f"Probably no evaluation would finish within {timing.limit:.3g} s.")


def _choices(
    strategy: Strategy | None, memory: Memory, evidence: Evidence, chance: InTime, rng: Generator
) -> tuple[str, Array]:
    """What chooses, and points (k, width) in order of preference."""
    draws = anywhere(evidence.cube, rng, DRAWS)
    if not isinstance(strategy, ModelBased):
        return "random", draws
    belief = strategy.believe(evidence, memory, rng)
    if isinstance(belief, Beliefs):
        promise: Acquisition = believed_addition(belief, evidence.pending)
        good = belief.X
    else:
        promise = improvement = believed_improvement(belief, evidence.pending)
        good = belief.good_points(improvement.gp)
    found = strategy.parts.search(product(promise, chance, chance=belief.factor), evidence.cube, rng, good)
    return "improve", np.vstack([found, draws[np.argsort(Product((promise, chance)).screen(draws), kind="stable")]])
