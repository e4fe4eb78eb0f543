"""The minimum of a cheap smooth function over the unit cube: look at many points, polish the promising ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.blocks import by_blocks
from aegisbo.search.descent import STEPS, descend

SPRINT = 12  # steps that all starts of a race make
FINALISTS = 2


class Objective(Protocol):
    """A function on the cube, for many points at once."""

    def screen(self, Z: Array) -> Floats:
        """Values (m,) at Z (m, d), good enough to rank points by; single precision will do."""

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d)."""


Choice = Callable[[Floats, int, Generator], Index]  # (screened values, how many, rng) -> indices of the starts


@dataclass(frozen=True)
class Minimum:
    """The lowest point seen anywhere, and the others that were polished with it, lowest first."""

    x: Array  # (d,)
    value: float
    polished: Array  # (k, d)


def best_starts(values: Floats, count: int, rng: Generator) -> Index:
    """The lowest `count` points."""
    return np.argpartition(values, min(count, len(values)) - 1)[:count]


def boltzmann_starts(values: Floats, count: int, rng: Generator) -> Index:
    """Points drawn without replacement with weights exp(−standardised value), the lowest among them for certain."""
    spread = values.std()
    scaled = (values - values.mean()) / spread if spread > 0.0 else np.zeros_like(values)
    weights = np.maximum(np.exp(-(scaled - scaled.min()).astype(np.float64)), 1e-300)  # all can be drawn
    chosen = rng.choice(len(values), size=min(count, len(values)), replace=False, p=weights / weights.sum())
    lowest = int(np.argmin(values))
    if lowest not in chosen:
        chosen[-1] = lowest
    return chosen


def minimise(
    objective: Objective, candidates: Array, rng: Generator, *, starts: int = 10, choose: Choice = best_starts
) -> Minimum:
    """Screen the candidates (N, d), polish the chosen starts together, return the lowest point seen."""
    values = by_blocks(objective.screen, candidates)
    return polish(objective, candidates[choose(values, starts, rng)])


def race(objective: Objective, starts: Array) -> Array:
    """Where descents from all starts (k, d) got: a little way, the best of them to the end. Lowest first (k, d).

    Which start wins shows early; the long way to the last digit is for the winners.
    """
    ahead = polish(objective, starts, steps=SPRINT).polished
    return np.vstack([polish(objective, ahead[:FINALISTS]).polished, ahead[FINALISTS:]])


def polish(objective: Objective, starts: Array, *, steps: int = STEPS) -> Minimum:
    """Descend from all starts (k, d) at once: one L-BFGS-B run on the sum of their values.

    Each point moves only by its own gradient; sharing one run means one batched evaluation a step instead of k.
    """
    k, d = starts.shape
    best_x, best_value = starts.copy(), np.full(k, np.inf)

    def total(flat: Array) -> tuple[float, Array]:
        Z = flat.reshape(k, d)
        values, gradients = objective.value_and_gradient(Z)
        better = values < best_value
        best_x[better], best_value[better] = Z[better], values[better]
        return float(values.sum()), gradients.ravel()

    descend(total, starts.ravel(), np.tile([0.0, 1.0], (k * d, 1)), steps=steps)
    order = np.argsort(best_value, kind="stable")
    return Minimum(best_x[order[0]], float(best_value[order[0]]), best_x[order])
