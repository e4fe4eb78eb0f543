"""The ways to choose a point: minimise the mean, minimise a sample path, pick from the Pareto set, pick anywhere.

Each returns choices (k, width), rounded to what can be evaluated: the first is the choice, the others are what it
would choose next if that one were taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.numerics import nsga2, paths
from aegisbo.numerics.blocks import by_blocks
from aegisbo.numerics.boxmin import Objective
from aegisbo.numerics.gp import GP
from aegisbo.strategies.cube import Cube
from aegisbo.strategies.search import Search


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


def exploit(gp: GP, cube: Cube, search: Search, rng: Generator) -> Array:
    """Minimise the posterior mean (Algorithm 1, line 6)."""
    return search(_Mean(gp), cube, rng)


def thompson(gp: GP, cube: Cube, search: Search, features: int, rng: Generator) -> Array:
    """Minimise a function drawn from the posterior (lines 8 and 9)."""
    return search(posterior_path(gp, features, rng), cube, rng)


def posterior_path(gp: GP, features: int, rng: Generator) -> Objective:
    """A function drawn from the posterior, to be minimised."""
    return _Path(paths.draw(gp, rng, features=features))


def pareto(gp: GP, cube: Cube, rng: Generator) -> Array:
    """A random member of the approximate Pareto set of low mean and high uncertainty (lines 11 and 12)."""

    def objectives(Z: Array) -> Array:  # (m, width) -> (m, 2)
        mu, var = gp.predict(cube.round(Z))
        return np.stack([mu, -np.sqrt(var)], axis=1)

    population = nsga2.POPULATION_PER_COORDINATE * cube.parameters
    archive = nsga2.search(lambda Z: by_blocks(objectives, Z), cube.width, rng, population=population)
    return cube.round(archive.X[rng.permutation(archive.front)])


def anywhere(cube: Cube, rng: Generator, count: int = 1) -> Array:
    """Uniformly random points (count, width)."""
    return cube.fill(rng.random((count, cube.parameters)))
