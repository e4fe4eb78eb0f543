"""Points of a cube that keep its constraints: how to find some, draw some, and get back to one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array

if TYPE_CHECKING:
    from aegisbo.space.cube import Cube

LOOKED_AT = 4096  # random points at a time
TIMES = 16  # this often, before they are led towards the constraints
ROUNDS = 60  # of that
KEPT = 64
HALVINGS = 30
TRIES = 8  # rounds of rejection in a draw
ROOM = 10.0 ** -np.arange(2, 11)  # distances at which there must be allowed points around one
LOOKS = 2  # at each of them


def first_allowed(cube: Cube) -> Array:
    """Some points that keep all constraints (at most 64, width), the same at each call; none if none was found."""
    rng = np.random.default_rng(0)
    for _ in range(TIMES):
        Z = cube.fill_all(rng.random((LOOKED_AT, cube.parameters)))
        inside = Z[cube.allowed(Z)]
        if len(inside):
            return inside[:KEPT]
    best = Z[np.argsort(cube.violation(Z), kind="stable")[:KEPT]]
    for k in range(ROUNDS):
        steps = (
            0.3 * 0.85**k * rng.standard_normal((LOOKED_AT, cube.width)) * (rng.random((LOOKED_AT, cube.width)) < 0.5)
        )
        Z = cube.round_all(np.clip(best[rng.integers(len(best), size=LOOKED_AT)] + steps, 0.0, 1.0))
        inside = _with_room(cube, Z[cube.allowed(Z)][:KEPT], rng)
        if len(inside):
            return inside
        Z = np.vstack([best, Z])
        best = Z[np.argsort(cube.violation(Z), kind="stable")[:KEPT]]
    return Z[:0]


def _with_room(cube: Cube, Z: Array, rng: Generator) -> Array:
    """Those of some allowed points (m, width) near which others are allowed that differ in all real coordinates.

    An equation between real numbers leaves no room, but corners of the cube may solve it.
    """
    room = np.full(len(Z), False)
    real = np.repeat([axis.size == math.inf for axis in cube.axes], [axis.width for axis in cube.axes])
    for size in np.repeat(ROOM, LOOKS):
        steps = size * rng.uniform(-1.0, 1.0, Z.shape) * real
        beyond = (Z + steps < 0.0) | (Z + steps > 1.0)
        room |= cube.allowed(Z + np.where(beyond, -steps, steps))
    return np.asarray(Z[room])


def draw(cube: Cube, rng: Generator, count: int) -> Array:
    """Random points (count, width) that keep all constraints, with coordinates of all axes.

    They are uniform where constraints leave enough of the cube; else some are found on the way from an allowed point to
    one that is not.
    """
    found = [cube.first_allowed[:0]]
    missing = count
    for _ in range(TRIES):
        Z = cube.fill_all(rng.random((max(2 * missing, KEPT), cube.parameters)))
        found.append(Z[cube.allowed(Z)][:missing])
        missing -= len(found[-1])
        if not missing:
            return np.vstack(found)
    known = np.vstack([*found, cube.first_allowed])
    starts = known[rng.integers(len(known), size=missing)]
    targets = cube.fill_all(rng.random((missing, cube.parameters)))
    return np.vstack([*found, _on_the_way(cube, starts, targets, rng)])


def _on_the_way(cube: Cube, starts: Array, targets: Array, rng: Generator) -> Array:
    """Allowed points between starts (m, width), which are allowed, and targets (m, width): random ones."""
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
