"""A random point."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.space.allowed import draw
from aegisbo.space.cube import Cube
from aegisbo.strategies.moves.move import Decision, Turn


@dataclass(frozen=True)
class Anywhere:
    """Pick a random point (AEGiS-RS)."""

    def choose(self, turn: Turn) -> Decision:
        """One point."""
        return Decision("uniform", anywhere(turn.evidence.cube, turn.rng), turn.belief)


def anywhere(cube: Cube, rng: Generator, count: int = 1) -> Array:
    """Uniformly random points (count, width) that are allowed."""
    if cube.rules is not None:
        return cube.without_absent(draw(cube, rng, count))
    return cube.fill(rng.random((count, cube.parameters)))
