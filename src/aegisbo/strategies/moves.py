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
from aegisbo.gp.posterior import GP, Posterior
from aegisbo.search import nsga2
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import InnerSearch, Objective
from aegisbo.space.allowed import draw
from aegisbo.space.cube import Cube
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Chance, Expected
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.per_second import GainPerSecond, quick_first

GOOD = 10  # points that a search is told of
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


@dataclass(frozen=True)
class Weights:
    """What else counts beside the value at a point."""

    chance: Chance | None = None  # to succeed
    price: Durations | None = None  # how long an evaluation takes, if it counts
    best: float | None = None  # of the values that count, standardized; None: the lowest measured
    good: Array | None = None  # (k, width) the best points that count, the best first; None: as measured

    @classmethod
    def of(cls, belief: Belief, price: Durations | None = None) -> Weights:
        """What a belief says of it."""
        return cls(belief.chance, price, None if belief.good is None else belief.best, belief.good)

    def lowest(self, gp: GP) -> float:
        """The lowest value that counts."""
        return lowest(gp) if self.best is None else self.best

    def best_points(self, gp: GP) -> Array:
        """The best points that count."""
        return best_points(gp) if self.good is None else self.good

    def weigh(self, function: Objective, gp: GP) -> Objective:
        """What to minimize instead of a function that the model knows."""
        if self.chance is not None:
            function = Expected(function, self.chance, highest(gp))
        return function if self.price is None else GainPerSecond(function, self.lowest(gp), self.price)


UNWEIGHED = Weights()


def exploit(gp: GP, cube: Cube, search: InnerSearch, rng: Generator, weights: Weights = UNWEIGHED) -> Array:
    """Minimize the posterior mean (Algorithm 1, line 6); given a price, maximize its gain per second."""
    return search(weights.weigh(_Mean(gp), gp), cube, rng, weights.best_points(gp))


def thompson(
    gp: GP, cube: Cube, search: InnerSearch, features: int, rng: Generator, weights: Weights = UNWEIGHED
) -> Array:
    """Minimize a function drawn from the posterior (lines 8 and 9); given a price, maximize its gain per second."""
    return search(weights.weigh(posterior_path(gp, features, rng), gp), cube, rng, weights.best_points(gp))


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


def pareto(gp: GP, cube: Cube, front: Front, rng: Generator, weights: Weights = UNWEIGHED) -> Array:
    """A random member of the approximate Pareto set (lines 11 and 12), those with hope first.

    Given a price, one that takes half as long is twice as likely.
    """
    archive = pareto_set(gp, cube, front, rng, weights.chance)
    members = rng.permutation(archive.front)
    if weights.price is not None:
        members = members[quick_first(weights.price, cube.round(archive.X[members]), rng)]
    hopeful = front.hopeful(archive.F[members], weights.lowest(gp))
    return cube.round(archive.X[np.concatenate([members[hopeful], members[~hopeful]])])


def pareto_set(gp: GP, cube: Cube, front: Front, rng: Generator, chance: Chance | None) -> nsga2.Archive:
    """All points that a search for the Pareto set of low mean and high uncertainty came upon."""
    population = front.population * cube.parameters

    def objectives(Z: Array) -> Array:  # (m, width) -> (m, 2)
        Z = cube.round(Z)
        mu, var = gp.predict(Z)
        F = np.stack([mu, -np.sqrt(var)], axis=1)
        failure = np.array([highest(gp), 0.0])  # it is as bad as can be, and teaches nothing of the values
        if chance is not None:
            F = failure + np.exp(chance.log_value(Z))[:, None] * (F - failure)
        if cube.rules is not None:  # every allowed point dominates all others
            beyond = np.maximum(failure, F.max(axis=0)) + 1.0 + cube.violation(Z)[:, None]
            F = np.where(cube.allowed(Z)[:, None], F, beyond)
        return np.asarray(F)

    first = None if cube.rules is None else draw(cube, rng, population)
    return nsga2.search(lambda Z: by_blocks(objectives, Z), cube.width, rng, population=population, first=first)


def lowest(gp: GP) -> float:
    """The lowest value measured."""
    return float(gp.y.min()) + gp.constant


def highest(gp: GP) -> float:
    """The highest value measured, which is what a failure counts as."""
    return float(gp.y.max()) + gp.constant


def best_points(gp: Posterior) -> Array:
    """Where the lowest values were measured (at most `GOOD`, width), the lowest first."""
    return gp.X[np.argsort(gp.y, kind="stable")[:GOOD]]


def anywhere(cube: Cube, rng: Generator, count: int = 1) -> Array:
    """Uniformly random points (count, width) that are allowed."""
    if cube.rules is not None:
        return cube.without_absent(draw(cube, rng, count))
    return cube.fill(rng.random((count, cube.parameters)))
