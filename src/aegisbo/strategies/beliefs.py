"""What is believed of several objectives: a belief of each, and the front that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from aegisbo.arrays import Array
from aegisbo.search.hypervolume import Boxes, front, undominated
from aegisbo.strategies.base import Evidence, Memory, Note
from aegisbo.strategies.belief import Belief, Surrogate, chances_at
from aegisbo.strategies.chance import Chance, Weighed
from aegisbo.strategies.exact import Exact, exact_of
from aegisbo.strategies.keeping import Keeping
from aegisbo.strategies.tilt import Tilt, tilt_of

MEMORY = "objectives"  # where in a strategy's memory it is kept
ROOM = 0.1  # of the range of the front, by which the reference lies beyond its worst values
SLACK = 0.1  # standard deviations that are added, because the front may be a single point


@dataclass(frozen=True)
class Beliefs(Weighed):
    """What is believed of each objective, on a standardized scale of its own, and what counts beside their values."""

    each: tuple[Belief | Exact, ...]
    X: Array  # (k, width) where the front was measured
    F: Array  # (k, m) its values, standardized; where values are noisy, the means
    success: Chance | None = None
    keeping: Keeping | None = None
    tilt: Tilt | None = None
    explorer: Beliefs | None = None  # the one that knows most of all points, if it is another one

    @property
    def exploring(self) -> Beliefs:
        """What to explore with."""
        return self.explorer or self

    @cached_property
    def reference(self) -> Array:  # (m,)
        """Beyond which nothing counts: a little worse than the front is in any objective."""
        low, high = self.F.min(axis=0), self.F.max(axis=0)
        return np.asarray(high + ROOM * (high - low) + SLACK)

    def left_by(self, F: Array) -> Boxes:
        """What the front and further values F (p, m) leave undominated."""
        return undominated(np.vstack([self.F, F]), self.reference)

    def means(self, Z: Array) -> Array:  # (n, width) -> (n, m)
        """The posterior means of all objectives."""
        return np.stack([belief.gp.mean(Z) for belief in self.each], axis=1)

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Means and standard deviations (n, m) at Z (n, width); none where a known objective has no value."""
        mu, var = zip(*(belief.gp.predict(Z) for belief in self.each), strict=True)
        sd = np.sqrt(np.stack(var, axis=1))
        for belief, value in zip(self.each, mu, strict=True):
            if isinstance(belief, Exact):
                sd[value == belief.gp.worst] = 0.0  # an evaluation there would teach nothing
        return np.stack(mu, axis=1), sd

    def chance_beyond(self, F: Array, Z: Array) -> Array:  # (k, m), (n, width) -> (n,)
        """The chance that no row of F dominates the values at Z, were the objectives independent of each other.

        It is the sum over the boxes that F leaves undominated.
        """
        boxes = undominated(F, np.full(len(self.each), np.inf))
        mu, sd = self.predict(Z)

        def below(bounds: Array, j: int) -> Array:  # (b,) -> (n, b)
            away, spread = bounds - mu[:, [j]], sd[:, [j]]
            certain = spread == 0.0
            return np.where(certain, away > 0.0, ndtr(away / np.where(certain, 1.0, spread)))

        sides = [below(boxes.upper[:, j], j) - below(boxes.lower[:, j], j) for j in range(len(self.each))]
        return np.asarray(np.prod(sides, axis=0).sum(axis=1))

    def smoothed(self, X: Array) -> Array:
        """The posterior means (n, m) at X (n, width), in the user's units."""
        return np.stack([belief.smoothed(X) for belief in self.each], axis=1)

    @property
    def widths(self) -> Array:  # (width,)
        """In which closeness is measured: the shortest length scale of each coordinate."""
        return np.asarray(np.min([belief.widths for belief in self.each if isinstance(belief, Belief)], axis=0))

    def note(self, x: Array) -> Note:
        """What is predicted of each objective at x (width,), in the user's units."""
        mean, std = zip(*(belief.expected(x) for belief in self.each), strict=True)
        told = {"mean": list(mean), "std": list(std), "lengthscale": self.widths.tolist()}
        return {**told, **chances_at(x, self.success, self.keeping, self.tilt)}


def fit_each(
    surrogate: Surrogate, evidence: Evidence, memory: Memory, rng: Generator
) -> tuple[tuple[Belief | Exact, ...], Memory]:
    """A belief of each objective, and a memory from which the next fits start warm."""
    known, found = dict(memory.get(MEMORY, {})), list[Belief | Exact]()
    for j, exact in enumerate(exact_of(evidence)):
        if exact is None:
            belief, known[str(j)] = surrogate.fit(evidence.of(j), known.get(str(j), {}), rng)
        found.append(exact or belief)
    return tuple(found), {**memory, MEMORY: known}


def beliefs_of(
    each: Sequence[Belief | Exact], evidence: Evidence, success: Chance | None, keeping: Keeping | None, *, smooth: bool
) -> Beliefs:
    """The beliefs, with the front of the points that keep all limits, or of all if none does."""
    rows = np.flatnonzero(evidence.kept) if evidence.kept.any() else np.arange(len(evidence.y))
    X = evidence.X[rows]
    if smooth:
        F = np.stack([belief.gp.mean(X) for belief in each], axis=1)
    else:
        F = np.stack([belief.scale.standardized(evidence.y[rows, j]) for j, belief in enumerate(each)], axis=1)
    best = front(F)
    found = Beliefs(tuple(each), X[best], F[best], success, keeping, tilt_of(evidence))
    if all(isinstance(belief, Exact) or belief.explorer is None for belief in each):
        return found
    others = [belief if isinstance(belief, Exact) else replace(belief.exploring, explorer=None) for belief in each]
    return replace(found, explorer=beliefs_of(others, evidence, success, keeping, smooth=smooth))
