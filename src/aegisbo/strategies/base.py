"""What every strategy receives and returns.

A strategy is a frozen recipe; whatever it must remember between two asks (warm-start hyper-parameters, counters)
is a JSON-able value that goes in and comes out. Nothing hides on `self`, so a study can be stopped, stored and
continued as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index, Mask
from aegisbo.space.cube import Cube
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.timing import Timing

Memory = Mapping[str, Any]  # JSON-able
Note = Mapping[str, Any]  # JSON-able; note["move"] says which branch chose the point


class FunctionOfPoints(Protocol):
    """A function of the point, to be minimized."""

    @property
    def here(self) -> bool:
        """Whether it can be called; of a stored run, only its name may be known."""

    def __call__(self, Z: Array) -> Array:
        """Its values (m,) at Z (m, width), NaN where it has none."""


@dataclass(frozen=True)
class Evidence:
    """All that is known when a point is asked for; rows are in trial order, coordinates are the cube's."""

    X: Array  # (n, width) finished points that gave a value
    y: Array  # (n,) their values, as measured, to be minimized; (n, m) if there are m objectives
    failed: Array  # (f, width) points whose evaluation failed
    pending: Array  # (p, width) points under evaluation
    cube: Cube
    timing: Timing | None = None  # only where time matters
    excess: Array | None = None  # (n, l) by how much they are beyond each limit, above 0 if they break it
    sd: Array | None = None  # (n,) standard deviations of the values, 0 where unknown; None if none is known
    noisy: bool = False  # whether the values are said to be noisy: the lowest one may be merely lucky
    # of several objectives, the functions of those that follow from the point
    known: tuple[FunctionOfPoints | None, ...] = ()
    # (n,) whether they may be the best: data from elsewhere may break constraints, and of evaluations that were stopped
    # only the end is expected, with its standard deviation. They are in the last rows. None: all may.
    allowed: Mask | None = None
    # (s, width) points whose evaluation was stopped, and of which no end can be expected; None: none was ever stopped
    stopped: Array | None = None

    @property
    def kept(self) -> Mask:  # (n,)
        """Which finished points keep all limits and constraints, so that they may be the best."""
        kept = np.full(len(self.y), True) if self.excess is None else np.all(self.excess <= 0.0, axis=1)
        return kept if self.allowed is None else kept & self.allowed

    def of(self, objective: int) -> Evidence:
        """The evidence of one of several objectives alone."""
        return replace(self, y=self.y[:, objective], known=())

    @property
    def askable(self) -> Evidence:
        """The evidence without functions that cannot be called here: for a question, a model will do."""
        return replace(self, known=tuple(each if each and each.here else None for each in self.known))

    @property
    def each(self) -> tuple[Evidence, ...]:
        """The evidence of each objective alone; of one number, the evidence itself."""
        return tuple(map(self.of, range(self.y.shape[1]))) if self.several else (self,)

    def only(self, rows: Index) -> Evidence:
        """The evidence with these finished points and no others."""
        sd, excess = (None if each is None else each[rows] for each in (self.sd, self.excess))
        allowed = None if self.allowed is None else self.allowed[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], sd=sd, excess=excess, allowed=allowed)

    @property
    def several(self) -> bool:
        """Whether there are several objectives."""
        return self.y.ndim > 1

    @property
    def price(self) -> Durations | None:
        """How long evaluations take, if that is what they cost and it is not everywhere the same."""
        return None if self.timing is None else self.timing.price

    @property
    def must_repeat(self) -> bool:
        """Whether every point of a finite cube is taken, and values are noisy: then one is measured again."""
        return self.noisy and self.cube.exhausted(self.taken)

    @property
    def taken(self) -> Array:  # (n + f + p, width)
        """All points that were or are being evaluated."""
        return np.vstack([self.X, self.failed, self.pending, *([] if self.stopped is None else [self.stopped])])


@dataclass(frozen=True)
class Suggestion:
    """One point, already rounded to what will be evaluated, with the memory after it and the reason for it."""

    x: Array  # (width,)
    memory: Memory = field(default_factory=dict)
    note: Note = field(default_factory=dict)


class Strategy(Protocol):
    """Choose one point. Equal arguments give an equal answer; only `rng` brings chance."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """Choose the next point.

        Args:
            evidence: all that is known.
            memory: what the suggestion before this one said is to be remembered; empty at first.
            rng: for everything random.

        Returns:
            The point, what to remember, and why it was chosen.
        """


def does_several(strategy: Strategy) -> bool:
    """Whether it can choose for several objectives, which it says with an attribute `several_objectives`."""
    return bool(getattr(strategy, "several_objectives", False))
