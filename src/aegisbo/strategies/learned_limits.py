"""Limits on what is measured beside the value: each quantity has a model, and all together the chance to keep them.

The chance weighs every move as the chance to succeed does (`chance`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import GOOD, Belief
from aegisbo.strategies.keeping import Keeping
from aegisbo.strategies.presets import modern_model
from aegisbo.strategies.surrogates import AdditiveSurrogate

MEMORY = "limits"  # where in a strategy's memory it is kept
SURROGATE = AdditiveSurrogate(modern_model)


def believe_in_limits(belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
    """The belief that knows the limits, and a memory to learn on from; as it was if there are none."""
    keeping, memory = learned_keeping(evidence, memory, rng)
    return keeping_to(belief, keeping, evidence), memory


def keeping_to(belief: Belief, keeping: Keeping | None, evidence: Evidence) -> Belief:
    """The belief that knows the chance to keep the limits, and whose best points keep them and all constraints."""
    if keeping is None and evidence.kept.all():
        return belief
    return _of_those_that_count(replace(belief, keeping=keeping), evidence)


def learned_keeping(evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Keeping | None, Memory]:
    """The chance to keep all limits, None if there are none; and a memory to learn on from."""
    excess = evidence.excess
    if excess is None:
        return None, memory
    known, models = dict(memory.get(MEMORY, {})), []
    for k in range(excess.shape[1]):
        one = replace(evidence, y=excess[:, k], excess=None, sd=None)  # which is that of the value
        quantity, known[str(k)] = SURROGATE.fit(one, known.get(str(k), {}), rng)
        models.append((quantity.gp, float(quantity.scale.standardized(np.zeros(1))[0])))
    return Keeping(tuple(models)), {**memory, MEMORY: known}


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
