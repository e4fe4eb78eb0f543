"""The data sets that all contestants share: finished evaluations as they look in the middle of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import scale_of
from aegisbo.simulation import problems

COMPARED = tuple((d, n) for d in (2, 5, 10) for n in (50, 100, 200))  # where all contestants meet
# A smooth and a rough function of each dimension.
FUNCTIONS = {2: ("Branin", "Eggholder"), 5: ("StyblinskiTang5", "Ackley5"), 10: ("Rosenbrock10", "StyblinskiTang10")}


@dataclass(frozen=True)
class Data:
    """What an optimizer knows when it is asked for a point."""

    function: str
    X: Array  # (n, d) in the unit cube
    y: Array  # (n,) standardized

    @property
    def n(self) -> int:
        """The number of finished evaluations."""
        return len(self.y)

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return self.X.shape[1]

    def without_last(self) -> Data:
        """What was known one evaluation earlier."""
        return Data(self.function, self.X[:-1], standardized(self.y[:-1]))


def finished(function: str, n: int, concentrated: float, rng: Generator) -> Data:
    """`n` evaluations: uniform ones, then a share of `concentrated` ones ever closer to the best of the others."""
    problem = problems.get(function)
    low, high = np.array(problem.bounds).T

    def values(X: Array) -> Array:
        return np.array([problem(low + (high - low) * x) for x in X])

    uniform = rng.random((n - round(concentrated * n), problem.d))
    best = uniform[values(uniform).argmin()]
    reach = np.geomspace(0.3, 0.02, n - len(uniform))[:, None]
    near = np.clip(best + reach * rng.standard_normal((len(reach), problem.d)), 0.0, 1.0)
    X = np.vstack([uniform, near])
    return Data(function, X, standardized(values(X)))


def standardized(y: Array) -> Array:
    """Mean 0 and variance 1."""
    return scale_of(y).standardized(y)


def mid_run(d: int, n: int) -> list[Data]:
    """One data set for each function of dimension `d`, half of its points concentrated."""
    return [finished(function, n, 0.5, np.random.default_rng([d, n])) for function in FUNCTIONS[d]]
