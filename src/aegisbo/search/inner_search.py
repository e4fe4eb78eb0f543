"""What an inner search is, and what all of them share: look at many points, polish the promising ones.

An inner search finds the minimum of a cheap smooth function over the cube. There are three: `everywhere` (the paper's),
`near_best` (the modern preset's) and `mixed` (the same where parameters have levels or choices).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.descent import MOST_EVALUATIONS, MOST_STEPS, descend
from aegisbo.space.cube import ABSENT, Cube

Spread = Callable[[int, int, Generator], Array]  # (n, d, rng) -> candidates (n, d)
Choose = Callable[[Floats, int, Generator], Index]  # (screened values, how many, rng) -> indices of the starts


class Acquisition(Protocol):
    """What a search minimizes: a cheap function on the cube, for many points at once."""

    def screen(self, Z: Array) -> Floats:
        """Values (m,) at Z (m, d), good enough to rank points by; single precision will do."""

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d)."""


class InnerSearch(Protocol):
    """How cheap functions are minimized over the cube."""

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """Low points (k, width), rounded to what can be evaluated, the lowest first.

        `good` (m, width) are the best points known, the best first: a hint where to look.
        """


@dataclass(frozen=True)
class _OnBranches:
    """The objective where some axes are not there: it does not see them, so it is flat along them."""

    objective: Acquisition
    cube: Cube

    def screen(self, Z: Array) -> Floats:
        return self.objective.screen(self.cube.without_absent(Z))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        present = self.cube.present(Z)
        values, gradients = self.objective.value_and_gradient(np.where(present, Z, ABSENT))
        return values, gradients * present


def on_branches(objective: Acquisition, cube: Cube) -> Acquisition:
    """The objective for points that have coordinates for all axes, also for those that are not there.

    A search keeps these: when a move lets an axis be there, it has a place.
    """
    return objective if cube.branches is None else _OnBranches(objective, cube)


def uniform(n: int, d: int, rng: Generator) -> Array:
    """Independent uniform points."""
    return rng.random((n, d))


def best_starts(values: Floats, count: int, rng: Generator) -> Index:
    """The lowest `count` points."""
    return np.argpartition(values, min(count, len(values)) - 1)[:count]


def polish(
    objective: Acquisition, starts: Array, *, steps: int = MOST_STEPS, evaluations: int = MOST_EVALUATIONS
) -> Array:
    """The lowest point that each descent from the starts (k, d) has seen, (k, d), the lowest of them first."""
    best_x, best_value = descended(objective, starts, steps=steps, evaluations=evaluations)
    return best_x[np.argsort(best_value, kind="stable")]


def descended(
    objective: Acquisition, starts: Array, *, steps: int = MOST_STEPS, evaluations: int = MOST_EVALUATIONS
) -> tuple[Array, Array]:
    """The lowest point (k, d) that the descent from each start (k, d) has seen, and the values there (k,).

    One L-BFGS-B run on the sum of their values: each point moves only by its own gradient, and a step is one batched
    evaluation instead of k.
    """
    k, d = starts.shape
    best_x, best_value = starts.copy(), np.full(k, np.inf)

    def total(flat: Array) -> tuple[float, Array]:
        Z = flat.reshape(k, d)
        values, gradients = objective.value_and_gradient(Z)
        better = values < best_value
        best_x[better], best_value[better] = Z[better], values[better]
        return float(values.sum()), gradients.ravel()

    descend(total, starts.ravel(), np.tile([0.0, 1.0], (k * d, 1)), steps=steps, evaluations=evaluations)
    return best_x, best_value
