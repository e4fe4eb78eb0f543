"""NSGA-II (Deb et al. 2002) over the unit cube with two objectives, set up as in the paper's supplement.

AEGiS picks from the Pareto set of everything the search has evaluated, not only of its last population, so the search
returns its whole archive. All operators work on whole populations: nothing here loops over individuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index
from aegisbo.search import dominance

Objectives = Callable[[Array], Array]  # (m, d) -> (m, 2)

# The paper's supplement, "NSGA-II"; a gene mutates with probability 1/d.
POPULATION_PER_COORDINATE = 100
CROSSOVER_RATE = 0.8  # of the pairs; each gene of such a pair is crossed with probability 1/2
ETA_CROSSOVER = 20.0  # distribution indices: the larger, the closer children stay to their parents
ETA_MUTATION = 20.0
# With the initial population 1000 evaluations per coordinate, as many as the other inner searches of the paper get.
GENERATIONS = 9


@dataclass(frozen=True)
class Archive:
    """Every point that a search has evaluated, in the order of evaluation."""

    X: Array  # (m, d)
    F: Array  # (m, 2)

    @property
    def front(self) -> Index:
        """The rows that no row of the archive dominates, copies included."""
        return np.flatnonzero(dominance.ranks(self.F) == 0)


def search(
    objectives: Objectives,
    d: int,
    rng: Generator,
    *,
    population: int | None = None,  # even; 100 d if not given
    generations: int = GENERATIONS,
    first: Array | None = None,  # (population, d), uniformly random if not given
) -> Archive:
    """Minimize two objectives at once over [0, 1]^d with population * (1 + generations) evaluations."""
    population = POPULATION_PER_COORDINATE * d if population is None else population
    X = rng.random((population, d)) if first is None else first
    F = objectives(X)
    archive = [(X, F)]
    parents = _fittest(X, F, population)
    for _ in range(generations):
        X = _mutate(_cross(parents.X.take(_tournaments(parents, rng), axis=0), rng), rng)
        F = objectives(X)
        archive.append((X, F))
        parents = _fittest(np.vstack((parents.X, X)), np.vstack((parents.F, F)), population)
    return Archive(np.vstack([X for X, _ in archive]), np.vstack([F for _, F in archive]))


@dataclass(frozen=True)
class _Population:
    """Points with what decides tournaments and survival: lower front first, then more room around."""

    X: Array  # (m, d)
    F: Array  # (m, 2)
    fronts: Index  # (m,)
    crowding: Array  # (m,)


def _fittest(X: Array, F: Array, size: int) -> _Population:
    """The `size` best points. A point that dominates a survivor survives too, so fronts need no second sort."""
    fronts = dominance.ranks(F)
    # Points behind the last front that survives, if only in part, need no further look: that is half of all.
    eligible = np.flatnonzero(fronts <= np.partition(fronts, size - 1)[size - 1])
    fronts = fronts[eligible]
    crowding = dominance.crowding(F.take(eligible, axis=0), fronts)
    best = np.lexsort((-crowding, fronts))[:size]
    rows = eligible[best]
    return _Population(X.take(rows, axis=0), F.take(rows, axis=0), fronts[best], crowding[best])


def _tournaments(parents: _Population, rng: Generator) -> Index:
    """The winners of two rounds in which each point meets one random opponent."""
    rows = np.arange(len(parents.X))
    a, b = np.concatenate((rng.permutation(rows), rng.permutation(rows))).reshape(-1, 2).T
    fronts, crowding = parents.fronts, parents.crowding
    # A full tie goes to `a`; since the order of the two is random, that is the toss of a coin.
    b_wins = (fronts[b] < fronts[a]) | ((fronts[b] == fronts[a]) & (crowding[b] > crowding[a]))
    return np.where(b_wins, b, a)


def _cross(mates: Array, rng: Generator) -> Array:
    """Bounded simulated binary crossover of rows 0 and 1, 2 and 3, ...: two children per pair, around its mean."""
    pairs, d = len(mates) // 2, mates.shape[1]
    crossed = np.flatnonzero((rng.random((pairs, 1)) < CROSSOVER_RATE) & (rng.random((pairs, d)) < 0.5))
    children = mates.copy()
    genes = children.reshape(-1)
    left = crossed + crossed // d * d  # the first mates are every other row
    right = left + d
    x, y = genes[left], genes[right]
    mean, half = 0.5 * (x + y), 0.5 * np.abs(x - y)
    reach = np.minimum(mean, 1.0 - mean)  # how far both children may go from the mean and stay in the cube
    # The spread is (distance of the children) / (distance of the parents); its density, (eta + 1)/2 * spread^eta up to
    # 1 and (eta + 1)/2 * spread^-(eta + 2) beyond, is cut at reach / half and sampled by inversion.
    power = ETA_CROSSOVER + 1.0
    u = rng.random(len(half)) * (2.0 - (half / np.maximum(reach, np.finfo(float).tiny)) ** power)
    spread = np.where(u <= 1.0, u, 1.0 / (2.0 - u)) ** (1.0 / power)
    # Which child gets which side is a coin per gene: with children this close to their parents, that is what mixes.
    step = np.where(rng.random(len(half)) < 0.5, half, -half) * spread
    genes[left] = np.clip(mean + step, 0.0, 1.0)  # only rounding can leave the cube
    genes[right] = np.clip(mean - step, 0.0, 1.0)
    return children


def _mutate(X: Array, rng: Generator) -> Array:
    """Bounded polynomial mutation: every gene with probability 1/d, up or down, never past the face it moves to."""
    mutated = np.flatnonzero(rng.random(X.shape) < 1.0 / X.shape[1])
    result = X.copy()
    genes = result.reshape(-1)
    x = genes[mutated]
    up = rng.random(len(x)) < 0.5
    room = np.where(up, 1.0 - x, x)
    # The step's density, proportional to (1 - step)^eta, is cut at `room` and sampled by inversion.
    power = ETA_MUTATION + 1.0
    u = rng.random(len(x))
    step = 1.0 - (u + (1.0 - u) * (1.0 - room) ** power) ** (1.0 / power)
    genes[mutated] = np.clip(np.where(up, x + step, x - step), 0.0, 1.0)  # only rounding can leave the cube
    return result
