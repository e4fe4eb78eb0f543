"""No point twice by accident.

A deterministic function teaches nothing when it is evaluated where it was, or is being, evaluated. Where the preset has
a guard, as `modern` has, what a strategy with a model chooses is therefore compared with all such points, in units of
the length scales. If it is taken, the next choice of the same move is tried, then those of other moves, then random
points. The first points of a run are kept apart by `Policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.moves.anywhere import anywhere

CLOSEST = 1e-4  # in length scales; polished starts of one basin end up to 1e-5 apart, and are the same point
DRAWS = 1000

Fallback = tuple[str, Callable[[], Array]]  # name of a move, and its choices (k, width) made on demand


def avoid_duplicates(
    choices: Array, fallbacks: Iterator[Fallback], evidence: Evidence, lengthscale: Array, rng: Generator
) -> tuple[Array, str | None]:
    """The first choice that is not taken (width,), and the move it came from if that is not the first one."""
    taken = evidence.taken
    first = _first_free(choices, taken, lengthscale)
    if first is not None:
        return choices[first], None if first == 0 else "next"
    for move, others in fallbacks:
        found = others()
        first = _first_free(found, taken, lengthscale)
        if first is not None:
            return found[first], move
    draws = anywhere(evidence.cube, rng, DRAWS)
    first = _first_free(draws, taken, lengthscale)
    return (evidence.cube.unused(draws[0], taken) if first is None else draws[first]), "random"


def _first_free(choices: Array, taken: Array, lengthscale: Array) -> int | None:
    """Which choice is the first that is not taken; mostly the first of all."""
    return next((k for k, x in enumerate(choices) if not is_taken(x, taken, lengthscale)), None)


def is_taken(x: Array, taken: Array, lengthscale: Array) -> bool:
    """Whether x (width,) lies closer than `CLOSEST` length scales to a point of `taken` (t, width)."""
    # By differences: a matrix product would lose these digits where length scales are short.
    return bool((((taken - x) / lengthscale) ** 2).sum(axis=1).min(initial=np.inf) < CLOSEST**2)
