"""Several objectives, all minimized: which points no other dominates, and the volume that they dominate.

The region that a set of points leaves undominated, below a reference point, is cut into boxes that do not overlap: one
for each local upper bound (Lacour, Klamroth and Fonseca, 2017). There are k + 1 for k points of two objectives, and
2k + 1 for three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array, Index


def front(F: Array) -> Index:  # (n, m)
    """The rows that no other dominates, in the order of the objectives; of equal rows the first."""
    left, found = np.lexsort(F.T[::-1]), []
    while len(left):
        first = left[0]  # what dominates a row comes before it in this order
        found.append(first)
        left = left[(F[left] < F[first]).any(axis=1)]
    return np.array(found, dtype=np.intp)


@dataclass(frozen=True)
class Boxes:
    """Boxes of objective space: (lower, upper), a row each, none of which overlaps another."""

    lower: Array  # (b, m); -inf where a box has no end
    upper: Array  # (b, m)

    def volume(self, below: Array) -> float:
        """The volume of what lies above a point (m,)."""
        sides = np.maximum(self.upper - np.maximum(self.lower, below), 0.0)
        return float(sides.prod(axis=1).sum())


def undominated(F: Array, reference: Array) -> Boxes:
    """The region below the reference (m,) in which no row of F (n, m) dominates a point."""
    m = len(reference)
    upper = reference[None, :].astype(np.float64)  # (b, m) local upper bounds
    # (b, m, m) the points that define them: row j of one meets it in objective j and lies below it in all others.
    definers = np.where(np.eye(m, dtype=np.bool_), upper[:, None, :], -np.inf)
    for z in F[front(F)]:
        inside = (z < upper).all(axis=1)
        if inside.any():
            made = [_lowered(upper[inside], definers[inside], z, j) for j in range(m)]
            upper = np.concatenate([upper[~inside], *(bounds for bounds, _ in made)])
            definers = np.concatenate([definers[~inside], *(points for _, points in made)])
    lower = np.full_like(upper, -np.inf)
    for j in range(1, m):
        lower[:, j] = definers[:, :j, j].max(axis=1)
    real = (lower < upper).all(axis=1)
    return Boxes(lower[real], upper[real])


def _lowered(upper: Array, definers: Array, z: Array, j: int) -> tuple[Array, Array]:
    """These bounds, lowered in objective j to a point z (m,) below them, and what defines them then."""
    others = np.delete(definers, j, axis=1)[:, :, j]
    needed = (z[j] >= others).all(axis=1)  # else another bound covers the same
    upper, definers = upper[needed].copy(), definers[needed].copy()
    upper[:, j], definers[:, j] = z[j], z
    return upper, definers


def hypervolume(F: Array, reference: Array) -> float:
    """The volume between the rows of F (n, m) and the reference (m,)."""
    counting = F[(reference > F).all(axis=1)]
    if not len(counting):
        return 0.0
    ideal = counting.min(axis=0)
    return max(float((reference - ideal).prod()) - undominated(counting, reference).volume(ideal), 0.0)


class GrowingFront:
    """A front to which points are added one by one, and its hypervolume."""

    def __init__(self, reference: Array, F: Array) -> None:  # (m,), (n, m) what is there at first
        self.volume = hypervolume(F, reference)
        self._reference = reference
        self._F = F

    def add(self, point: Array) -> float:  # (m,)
        """The hypervolume with this point, too."""
        if (point < self._reference).all() and not (point >= self._F).all(axis=1).any():
            # What it adds is the box above it, without what the others dominate of this box.
            box = float((self._reference - point).prod())
            self.volume += box - hypervolume(np.maximum(self._F, point), self._reference)
            # What it dominates counts no more.
            self._F = np.vstack([self._F[(point > self._F).any(axis=1)], point])
        return self.volume
