"""Points of a cube that keep its constraints: how to draw some, and how to return to one."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.space.cube import Cube

HALVINGS = 30
LEAST = 64  # fewest points drawn at a time
TRIES = 8  # rounds of rejection in a draw


def draw(cube: Cube, rng: Generator, count: int) -> Array:
    """Random points (count, width) that keep all constraints, with coordinates of all axes.

    They are uniform if constraints leave enough of the cube; else some lie between allowed and forbidden points.
    """
    found = [cube.first_allowed[:0]]
    missing = count
    for _ in range(TRIES):
        Z = cube.fill_all(rng.random((max(2 * missing, LEAST), cube.parameters)))
        found.append(Z[cube.allowed(Z)][:missing])
        missing -= len(found[-1])
        if not missing:
            return np.vstack(found)
    known = np.vstack([*found, cube.first_allowed])
    starts = known[rng.integers(len(known), size=missing)]
    targets = cube.fill_all(rng.random((missing, cube.parameters)))
    return np.vstack([*found, _on_the_way(cube, starts, targets, rng)])


def _on_the_way(cube: Cube, starts: Array, targets: Array, rng: Generator) -> Array:
    """Random allowed points between starts (m, width), which are allowed, and targets (m, width)."""
    share = np.ones((len(starts), 1))
    for _ in range(HALVINGS):
        Z = cube.round_all(starts + share * (targets - starts))
        outside = ~cube.allowed(Z)
        if not outside.any():
            return Z
        share[outside] *= rng.random((int(outside.sum()), 1))
    return np.where(outside[:, None], starts, Z)


def pulled_back(cube: Cube, inside: Array, Z: Array) -> Array:
    """The last allowed points (m, width) on the way from `inside` (m, width), which is allowed, to Z (m, width)."""
    near, far = np.zeros((len(Z), 1)), np.ones((len(Z), 1))
    done = cube.allowed(cube.round_all(Z))
    near[done] = 1.0
    if not done.all():
        for _ in range(HALVINGS):
            middle = 0.5 * (near + far)
            good = cube.allowed(cube.round_all(inside + middle * (Z - inside)))[:, None]
            near, far = np.where(good, middle, near), np.where(good, far, middle)
    ends = cube.round_all(np.where(near == 1.0, Z, inside + near * (Z - inside)))
    return np.where(cube.allowed(ends)[:, None], ends, inside)
