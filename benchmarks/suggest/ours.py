"""One suggestion of aegisbo's paper preset, step by step."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp import isotropic_fit, paths
from aegisbo.gp.output_transform import scale_of
from aegisbo.gp.posterior import GP
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.moves.move import Turn
from aegisbo.strategies.presets import PAPER, paper_model
from benchmarks.suggest.data import Data


def fit(data: Data, rng: Generator, warm: Array | None = None) -> isotropic_fit.IsotropicFit:
    return isotropic_fit.fit(data.X, data.y, paper_model(data.d), rng, warm)


def exploit(gp: GP, rng: Generator) -> Array:
    """Where the posterior mean is lowest."""
    return PAPER.exploit.choose(_turn(gp, rng)).choices[0]


def path(gp: GP, rng: Generator) -> paths.SamplePaths:
    """The path that `thompson` minimizes when it is given a generator in the same state."""
    return paths.draw(gp, rng)


def thompson(gp: GP, rng: Generator) -> Array:
    """Where a path drawn from the posterior is lowest."""
    return PAPER.thompson.choose(_turn(gp, rng)).choices[0]


def pareto(gp: GP, rng: Generator) -> Array:
    """The points (k, d) that trade low mean for high uncertainty among all that the search has evaluated."""
    return PAPER.pareto.choose(_turn(gp, rng)).choices


def mean_and_spread(gp: GP, Z: Array) -> Array:
    """The two objectives (m, 2) of the Pareto search, both minimized."""
    mu, var = gp.predict(Z)
    return np.column_stack([mu, -np.sqrt(var)])


def _turn(gp: GP, rng: Generator) -> Turn:
    """What a move sees, where nothing is known but the data of a posterior."""
    d = gp.X.shape[1]
    evidence = Evidence(gp.X, gp.y, np.empty((0, d)), np.empty((0, d)), Cube((Continuous(),) * d))
    belief = Belief(gp, scale_of(gp.y), float(gp.y.min()), ())
    return Turn(belief, evidence, PAPER.search, rng, {})
