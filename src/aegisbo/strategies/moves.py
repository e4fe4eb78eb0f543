"""The ways to choose a point: minimize the mean, minimize a sample path, pick from the Pareto set, pick anywhere.

Each returns choices (k, width), rounded to what can be evaluated: the first is the choice, the others are what it
would choose next if that one were taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats, Mask
from aegisbo.gp import paths
from aegisbo.gp.posterior import GP
from aegisbo.search import nsga2
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import InnerSearch, Objective
from aegisbo.space.allowed import draw
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Expected
from aegisbo.strategies.per_second import GainPerSecond, quick_first

EXPLORATORY = ("thompson", "pareto", "elsewhere")  # moves that look at what there is to explore with


@dataclass(frozen=True)
class _Mean:
    gp: GP

    def screen(self, Z: Array) -> Floats:
        return self.gp.mean(Z.astype(np.float32))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        return self.gp.mean_and_gradient(Z)


@dataclass(frozen=True)
class _Path:
    path: paths.SamplePaths

    def screen(self, Z: Array) -> Floats:
        return np.asarray(self.path(Z.astype(np.float32))[0])

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.path.value_and_gradient(Z)
        return values[0], gradients[0]


def exploit(belief: Belief, evidence: Evidence, search: InnerSearch, rng: Generator) -> Array:
    """Minimize the posterior mean (Algorithm 1, line 6); given a price, maximize its gain per second."""
    return search(_weighed(_Mean(belief.gp), belief, evidence), evidence.cube, rng, belief.good_points())


def thompson(belief: Belief, evidence: Evidence, search: InnerSearch, features: int, rng: Generator) -> Array:
    """Minimize a function drawn from the posterior (lines 8 and 9); given a price, maximize its gain per second."""
    path = posterior_path(belief.gp, features, rng)
    return search(_weighed(path, belief, evidence), evidence.cube, rng, belief.good_points())


def _weighed(function: Objective, belief: Belief, evidence: Evidence) -> Objective:
    """What to minimize instead of a function that the model knows, where evaluations may fail or cost time."""
    if belief.chance is not None:
        function = Expected(function, belief.chance, belief.worst)
    return function if evidence.price is None else GainPerSecond(function, belief.lowest, evidence.price)


def posterior_path(gp: GP, features: int, rng: Generator) -> Objective:
    """A function drawn from the posterior, to be minimized."""
    return _Path(paths.draw(gp, rng, features=features))


@dataclass(frozen=True)
class Front:
    """How the Pareto set of low mean and high uncertainty is looked for, and which part of it is picked from."""

    population: int = nsga2.POPULATION_PER_COORDINATE  # for each parameter
    # A member has hope if its mean less this many standard deviations lies below the best value measured; those are
    # preferred. None: every member will do, as in the paper, also one that is merely unknown.
    hope: float | None = None

    def hopeful(self, F: Array, best: float) -> Mask:
        """Which members, with rows (mean, −standard deviation) of F (m, 2), could well be better than `best`."""
        return np.full(len(F), True) if self.hope is None else F[:, 0] + self.hope * F[:, 1] < best


def pareto(belief: Belief, evidence: Evidence, front: Front, rng: Generator) -> Array:
    """A random member of the approximate Pareto set (lines 11 and 12), those with hope first.

    Given a price, one that takes half as long is twice as likely.
    """
    cube = evidence.cube
    archive = pareto_set(belief, cube, front, rng)
    members = rng.permutation(archive.front)
    if evidence.price is not None:
        members = members[quick_first(evidence.price, cube.round(archive.X[members]), rng)]
    hopeful = front.hopeful(archive.F[members], belief.lowest)
    return cube.round(archive.X[np.concatenate([members[hopeful], members[~hopeful]])])


def pareto_set(belief: Belief, cube: Cube, front: Front, rng: Generator) -> nsga2.Archive:
    """All points that a search for the Pareto set of low mean and high uncertainty came upon."""
    population = front.population * cube.parameters
    chance, failure = belief.chance, np.array([belief.worst, 0.0])  # it teaches nothing of the values

    def objectives(Z: Array) -> Array:  # (m, width) -> (m, 2)
        Z = cube.round(Z)
        mu, var = belief.gp.predict(Z)
        F = np.stack([mu, -np.sqrt(var)], axis=1)
        if chance is not None:
            F = failure + np.exp(chance.log_value(Z))[:, None] * (F - failure)
        if cube.rules is not None:  # every allowed point dominates all others
            beyond = np.maximum(failure, F.max(axis=0)) + 1.0 + cube.violation(Z)[:, None]
            F = np.where(cube.allowed(Z)[:, None], F, beyond)
        return np.asarray(F)

    first = None if cube.rules is None else draw(cube, rng, population)
    return nsga2.search(lambda Z: by_blocks(objectives, Z), cube.width, rng, population=population, first=first)


def anywhere(cube: Cube, rng: Generator, count: int = 1) -> Array:
    """Uniformly random points (count, width) that are allowed."""
    if cube.rules is not None:
        return cube.without_absent(draw(cube, rng, count))
    return cube.fill(rng.random((count, cube.parameters)))
