"""How a run begins, and how long its jobs take. Both follow from the seed, so all methods meet the same conditions.

There are three sets of conditions:

- `own`: the methods ask for the 2d points of our design themselves; seeds and job times differ between problems. The
  jobs of a table take the recorded times.
- `each`: the same, but every method begins as it does by itself.
- `peers`: the conditions of `peers.csv`. All problems are moved to the unit cube, 2d points are known before the clock
  starts, and the k-th job takes the k-th time of one sequence. A run under these conditions is paired by its seed with
  the rows of that file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi, sqrt
from typing import Any
from zlib import crc32

import numpy as np
from scipy.spatial.distance import pdist

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from aegisbo.simulation.problems import Problem
from benchmarks.problems.tables import Table

DESIGNS = 50  # Latin hypercubes, of which the one with the most distant points is taken
DESIGN_SEEDS = 1000  # times the dimension, plus the seed
JOB_TIME_SEEDS = 7000  # plus the seed


@dataclass(frozen=True)
class Start:
    """What a run begins with."""

    problem: Problem | Table  # on the box that the method sees
    seed: int  # of the method
    known: Array  # (k, d) points that are evaluated and told before the clock starts
    workers: Callable[[Callable[[Array], float], int], VirtualWorkers]  # from the function and their number
    shared: bool = True  # whether all methods begin alike

    @property
    def n_initial(self) -> int | None:
        """How many points of our design the method asks for itself; None for as many as it would."""
        return 2 * self.problem.d - len(self.known) if self.shared else None


class GivenTimes(VirtualWorkers):
    """Workers on the virtual clock whose k-th job takes the k-th of the given times."""

    def __init__(self, function: Callable[[Array], float], workers: int, times: Array) -> None:
        super().__init__(function, workers, half_normal, seed=0)
        self._times = times  # (n,)

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        return float(self._times[number])


class ByPoint(VirtualWorkers):
    """Workers on the virtual clock that know their points, on which may depend how long a job takes."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.points: dict[int, Any] = {}  # by number of the trial

    def submit(self, number: int, x: Any) -> int:
        self.points[number] = x
        return super().submit(number, x)


class RecordedTimes(ByPoint):
    """Workers on the virtual clock whose jobs take as long as was recorded for the point."""

    def __init__(self, function: Callable[[Any], float], workers: int, table: Table) -> None:
        super().__init__(function, workers, half_normal, seed=0)
        self._table = table

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        return self._table.seconds(self.points[number])


def seed_of(seed: int, name: str) -> int:
    """The seed of a run on the problem of this name."""
    return int(np.random.SeedSequence([seed, crc32(name.encode())]).generate_state(1)[0])


def own(problem: Problem | Table, seed: int, budget: int) -> Start:
    seed = seed_of(seed, problem.name)

    def workers(function: Callable[[Any], float], count: int) -> VirtualWorkers:
        if isinstance(problem, Table):
            return RecordedTimes(function, count, problem)
        return VirtualWorkers(function, count, half_normal, seed, free=2 * problem.d)

    return Start(problem, seed, np.empty((0, problem.d)), workers)


def each(problem: Problem | Table, seed: int, budget: int) -> Start:
    return replace(own(problem, seed, budget), shared=False)


def peers(problem: Problem | Table, seed: int, budget: int) -> Start:
    if isinstance(problem, Table):
        raise InvalidInput(f"{problem.name} has recorded job times and no unit cube: leave out --paired.")
    times = job_times(seed, budget - 2 * problem.d)
    return Start(
        in_unit_cube(problem),
        seed,
        design(problem.d, seed),
        lambda function, workers: GivenTimes(function, workers, times),
    )


# By problem, seed and budget.
STARTS: dict[str, Callable[[Problem | Table, int, int], Start]] = {"own": own, "each": each, "peers": peers}


def design(d: int, seed: int) -> Array:  # (2d, d)
    """The Latin hypercube, out of fifty, whose two closest points are farthest apart."""
    rng = np.random.default_rng(DESIGN_SEEDS * d + seed)
    candidates = [_latin_hypercube(2 * d, d, rng) for _ in range(DESIGNS)]
    return max(candidates, key=lambda X: float(pdist(X).min()))


def _latin_hypercube(n: int, d: int, rng: np.random.Generator) -> Array:  # (n, d)
    # Not the one of aegisbo.search.designs, which makes its draws in another order.
    slices = np.column_stack([rng.permutation(n) for _ in range(d)])
    return (slices + rng.random((n, d))) / n


def job_times(seed: int, n: int) -> Array:  # (n,)
    """Half-normal times of mean 1."""
    return np.abs(np.random.default_rng(JOB_TIME_SEEDS + seed).normal(size=n)) * sqrt(pi / 2)


def in_unit_cube(problem: Problem) -> Problem:
    """The same function with its box stretched to [0, 1]^d."""
    low, high = np.array(problem.bounds).T
    return replace(
        problem,
        # The function itself, because rounding may leave the box by a last digit, which the problem would refuse.
        function=lambda u: problem.function(low + u * (high - low)),
        bounds=((0.0, 1.0),) * problem.d,
        minimizers=(problem.minimizers - low) / (high - low),
        parameters=(),
    )
