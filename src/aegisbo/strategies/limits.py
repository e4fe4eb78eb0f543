"""Limits on what is measured beside the value: each quantity has a model, and all together the chance to keep them.

The chance weighs every move as the chance to succeed does (`chance`). Until an evaluation has kept all limits, points
are looked for where they are most likely kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from aegisbo.arrays import Array, Floats
from aegisbo.search.inner_search import InnerSearch, Objective
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import GOOD, Belief
from aegisbo.strategies.keeping import Keeping
from aegisbo.strategies.moves import posterior_path
from aegisbo.strategies.presets import modern_model
from aegisbo.strategies.product import Risk, product
from aegisbo.strategies.surrogates import AdditiveSurrogate

MEMORY = "limits"  # where in a strategy's memory it is kept
SOFTNESS = 0.1  # of the edge of a limit on a sample path, in standard deviations of what is measured
SURROGATE = AdditiveSurrogate(modern_model)


def believe_in_limits(belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
    """The belief that knows the limits, and a memory to learn on from; as it was if there are none."""
    excess = evidence.excess
    if excess is None:
        return (belief if evidence.kept.all() else _of_those_that_count(belief, evidence)), memory
    known, models = dict(memory.get(MEMORY, {})), []
    for k in range(excess.shape[1]):
        one = replace(evidence, y=excess[:, k], excess=None, sd=None)  # which is that of the value
        quantity, known[str(k)] = SURROGATE.fit(one, known.get(str(k), {}), rng)
        models.append((quantity.gp, float(quantity.scale.standardized(np.zeros(1))[0])))
    keeping = Keeping(tuple(models))
    return _of_those_that_count(replace(belief, keeping=keeping), evidence), {**memory, MEMORY: known}


def _of_those_that_count(belief: Belief, evidence: Evidence) -> Belief:
    """The belief whose best points keep all limits and constraints, as far as any does."""
    kept, best = evidence.kept, belief.best
    if kept.any():
        best = float(belief.scale.standardized(evidence.y[kept]).min())
    return replace(belief, best=best, good=best_first(evidence))


def best_first(evidence: Evidence) -> Array:
    """The points that may be the best, the lowest value first; those that come closest if there is none (k, width)."""
    kept = evidence.kept
    if not kept.any():
        return evidence.X[np.argsort(shortfall(evidence), kind="stable")[:GOOD]]
    return evidence.X[kept][np.argsort(evidence.y[kept], kind="stable")[:GOOD]]


def shortfall(evidence: Evidence) -> Array:  # (n,)
    """By how much limits are broken in all, each in units of its spread."""
    if evidence.excess is None:
        return np.zeros(len(evidence.y))
    spread = spreads(evidence.excess)
    return np.asarray((np.maximum(evidence.excess, 0.0) / np.where(spread > 0.0, spread, 1.0)).sum(axis=1))


def spreads(excess: Array) -> Array:
    """The standard deviation (l,) of each column (n, l); where its square is beyond all numbers, the largest size."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = excess.std(axis=0)
    return np.asarray(np.where(np.isfinite(found), found, np.abs(excess).max(axis=0)))


@dataclass(frozen=True)
class _Beyond:
    """By how much functions drawn from the models are beyond the limits: Σ log(1 + exp((f_j − t_j)/softness))."""

    paths: tuple[tuple[Objective, float], ...]

    def screen(self, Z: Array) -> Floats:
        return np.asarray(sum(np.logaddexp(0.0, (path.screen(Z) - bound) / SOFTNESS) for path, bound in self.paths))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        total, gradient = np.zeros(len(Z)), np.zeros_like(Z)
        for path, bound in self.paths:
            value, slope = path.value_and_gradient(Z)
            t = (value - bound) / SOFTNESS
            total += np.logaddexp(0.0, t)
            gradient += (expit(t) / SOFTNESS)[:, None] * slope
        return total, gradient


def approach(belief: Belief, evidence: Evidence, search: InnerSearch, features: int, rng: Generator) -> Array:
    """Choices (k, width) that may keep all limits, as long as none has: the most likely ones, or those of a draw.

    A draw from each model leads somewhere else each time, so that points that are evaluated together differ.
    """
    assert belief.keeping is not None
    if rng.random() < 0.5:
        return search(Risk(belief.chance or belief.keeping, alone=True), evidence.cube, rng, best_first(evidence))
    drawn = tuple((posterior_path(gp, features, rng), bound) for gp, bound in belief.keeping.models)
    return search(product(_Beyond(drawn), chance=belief.success), evidence.cube, rng, best_first(evidence))
