"""Deviation `pareto`: the uncertainty that NSGA-II maximized contained the noise.

The paper: the Pareto set of mean and variance.
The code: of mean and √(variance + noise), so that nothing on the front changes, but points of low variance look more
crowded than they do by the standard deviation without noise.

What it changes: hardly anything; it is here for completeness. Our operators of NSGA-II follow Deb et al. like those of
the library that the code used, which differ in how a crossover is bounded at the upper faces of the cube.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.nsga2 import Archive
from aegisbo.space.cube import Cube
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.moves.pareto import Pareto


@dataclass(frozen=True)
class _Noisy(GP):
    """A GP whose variance is that of a measurement."""

    def predict(self, Z: Array) -> tuple[Array, Array]:
        mu, var = super().predict(Z)
        return mu, var + self.noise


@dataclass(frozen=True)
class NoisyPareto(Pareto):
    """A random member of the approximate Pareto set of low mean and high uncertainty of a measurement."""

    def members(self, belief: Belief, cube: Cube, rng: Generator) -> Archive:
        """All points that a search for that set came upon."""
        noisy = _Noisy(**{field.name: getattr(belief.gp, field.name) for field in fields(belief.gp)})
        return super().members(replace(belief, gp=noisy), cube, rng)
