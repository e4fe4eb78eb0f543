"""The inner search where constraints leave a part of the cube only: its lowest point often lies on their edge.

Descents go a little way beyond the edge, which costs them the more the further they go; the best of them go on along
the edge by sequential quadratic programming. In the end all are pulled back to the last allowed point on the way, so
every point that is handed out is allowed. A constraint that is a function cannot say how far it is broken: there only
the pulling back is left.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, minimize

from aegisbo.arrays import Array, Floats
from aegisbo.search.descent import alone
from aegisbo.search.inner_search import Acquisition, descended, on_branches
from aegisbo.search.near_best import FINALISTS, SPRINT_STEPS, NearBestSearch
from aegisbo.search.neighbors import Partly, coordinates, lowest_first, neighbors, values_of, walk
from aegisbo.space.allowed import draw, pulled_back
from aegisbo.space.cube import Continuous, Cube, Grid

PRICE = 1e2  # of a broken constraint in a sprint
EDGE_STEPS = 60  # along an edge after a sprint, at most
LEAST_GAIN = 1e-9  # of a step along an edge; one that gains less is the last
DIFFERENCE = 1e-6  # of the differences that say how a cost grows
WALKERS = 4  # that move between levels
PAIRED = 50  # moves that are tried together with a second one; of more, every other one or fewer
TURNS = 4  # of descents and of moves between levels
COUNTS = NearBestSearch()
LISTED = 1000  # points for each parameter: a cube of no more is looked at in full


def search_within(objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
    """Low allowed points (k, width), rounded to what can be evaluated, the lowest first."""
    if cube.size <= LISTED * cube.parameters:
        return lowest_first(objective, cube, cube.every_point)
    objective = on_branches(objective, cube)
    anywhere = draw(cube, rng, COUNTS.candidates * cube.parameters)
    starts = COUNTS.promising(objective, cube, rng, good, anywhere)
    slide = Slide(cube, anywhere[[int(cube.slacks(anywhere).min(axis=1, initial=np.inf).argmax())]])
    if all(isinstance(axis, Continuous) for axis in cube.axes):
        ahead = slide.sprint(objective, starts)
        found = np.vstack([slide.all_the_way(objective, ahead[:FINALISTS]), ahead[FINALISTS:]])
    else:
        found = _in_turns(objective, slide, starts)
    points = cube.round(np.vstack([found, starts]))
    return lowest_first(objective, cube, points[cube.allowed(points)])


def _in_turns(objective: Acquisition, slide: Slide, starts: Array) -> Array:
    """Allowed points (k, width) that descents and moves between levels lead to, and their neighbors."""
    cube = slide.cube
    inside, at_fixed_levels = _Inside(objective, cube), Partly(objective, coordinates(cube, Continuous))
    found = slide.sprint(Partly(objective, coordinates(cube, Continuous, Grid)), starts)[:WALKERS]
    for _ in range(TURNS):
        settled = found if cube.size < np.inf else slide.all_the_way(at_fixed_levels, found)
        found = _exchanged(inside, cube, walk(inside, cube, settled))
        if np.array_equal(found, settled):
            break
    around = neighbors(inside, cube, found).reshape(-1, cube.width)
    return np.vstack([found, around[cube.allowed(around)]])


def _exchanged(objective: Acquisition, cube: Cube, points: Array) -> Array:
    """The points (k, width), each replaced by a neighbor of a neighbor if that is lower.

    At an edge such as a + b <= 10 a step up of one parameter must wait for a step down of the other.
    """
    points, values = points.copy(), values_of(objective, points)
    for k, point in enumerate(points):
        near = neighbors(objective, cube, point[None])[0]
        ring = neighbors(objective, cube, near[:: max(len(near) // PAIRED, 1)]).reshape(-1, cube.width)
        heights = values_of(objective, ring)
        if heights.min() < values[k]:
            points[k] = ring[heights.argmin()]
    return points


@dataclass(frozen=True)
class Slide:
    """Descents along the edges of what is allowed."""

    cube: Cube
    deep: Array  # (1, width) an allowed point far from all edges: whoever is on one is pulled back towards it

    def sprint(self, objective: Acquisition, starts: Array) -> Array:
        """Where all allowed starts (k, width) get in a few steps, the lowest first."""
        beyond, _ = descended(_Priced(objective, self.cube), starts, steps=SPRINT_STEPS)
        ahead = self._back(objective, starts, beyond)
        return ahead[np.argsort(values_of(objective, ahead), kind="stable")]

    def all_the_way(self, objective: Acquisition, starts: Array) -> Array:
        """Allowed points (k, width), each nowhere above its allowed start (k, width)."""
        beyond = np.vstack([self._bottom(objective, start) for start in starts])
        return self._back(objective, starts, beyond)

    def _bottom(self, objective: Acquisition, start: Array) -> Array:  # (width,) -> (width,)
        """Where sequential quadratic programming ends, about as far beyond the edges as it can tell."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Values in x were outside bounds")  # by a rounding error
            found = minimize(
                partial(alone, objective.value_and_gradient),
                start,
                jac=True,
                method="SLSQP",
                bounds=Bounds(0.0, 1.0),
                constraints={"type": "ineq", "fun": self._slacks, "jac": self._slopes},
                options={"maxiter": EDGE_STEPS, "ftol": LEAST_GAIN},
            )
        return np.asarray(np.clip(found.x, 0.0, 1.0))

    def _slacks(self, z: Array) -> Array:  # (width,) -> (r,)
        return np.asarray(self.cube.slacks(z[None])[0])

    def _slopes(self, z: Array) -> Array:  # (width,) -> (r, width)
        steps = np.where(z > 0.5, -DIFFERENCE, DIFFERENCE)
        slacks = self.cube.slacks(np.vstack([z, z + np.diag(steps)]))  # at once: a call costs more than its rows
        return np.asarray(((slacks[1:] - slacks[0]) / steps[:, None]).T)

    def _back(self, objective: Acquisition, inside: Array, beyond: Array) -> Array:
        """The lowest of `inside` (k, width), and of the last allowed points on the ways to `beyond` (k, width).

        One way leads from `inside` itself, which may be on an edge already, and one from deep inside, at the same
        levels.
        """
        levels = coordinates(self.cube, Continuous) == 0.0
        deep = np.where(levels, inside, self.deep)
        deep = np.where(self.cube.allowed(deep)[:, None], deep, inside)
        points = np.stack(
            [inside, *(pulled_back(self.cube, start, beyond) for start in (inside, deep))]
        )  # (3, k, width)
        values = values_of(objective, points.reshape(-1, self.cube.width)).reshape(3, -1)
        return np.asarray(points[values.argmin(axis=0), np.arange(len(inside))])


@dataclass(frozen=True)
class _Priced:
    """The objective where a broken constraint costs: ½ PRICE slack²."""

    objective: Acquisition
    cube: Cube

    def screen(self, Z: Array) -> Floats:
        return np.asarray(self.objective.screen(Z) + self._cost(Z))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.objective.value_and_gradient(Z)
        m, width = Z.shape
        steps = np.where(Z > 0.5, -DIFFERENCE, DIFFERENCE)  # (m, width)
        moved = Z[:, None, :] + steps[:, :, None] * np.eye(width)  # (m, width, width)
        cost = self._cost(np.vstack([Z, moved.reshape(-1, width)]))  # at once: a call costs more than its rows
        here, beside = cost[:m], cost[m:].reshape(m, width)
        return values + here, gradients + (beside - here[:, None]) / steps

    def _cost(self, Z: Array) -> Array:  # (m, width) -> (m,)
        return 0.5 * PRICE * self.cube.violation(Z)


@dataclass(frozen=True)
class _Inside:
    """The objective, and infinity at points that are not allowed."""

    objective: Acquisition
    cube: Cube

    def screen(self, Z: Array) -> Floats:
        return np.where(self.cube.allowed(Z), self.objective.screen(Z), np.inf)

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = self.objective.value_and_gradient(Z)
        return np.where(self.cube.allowed(Z), values, np.inf), gradients
