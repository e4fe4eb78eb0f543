"""Which axes of a cube are there at a point, where some are there only at certain places of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from aegisbo.arrays import Array, Index, Mask

Spans = tuple[tuple[float, float], ...]  # ends included


@dataclass(frozen=True)
class Condition:
    """An axis is there only if its parent is, and stands at one of these places."""

    parent: int  # which axis
    spans: Spans  # of its levels; of its coordinate where it is continuous

    def holds(self, places: Array | Index) -> Mask:  # (m,) -> (m,)
        return np.asarray(np.any([(low <= places) & (places <= high) for low, high in self.spans], axis=0))


@dataclass(frozen=True)
class Branches:
    """The conditions of all axes; those of one axis must hold all at once."""

    conditions: tuple[tuple[Condition, ...], ...]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Every axis after its parents, and soon after the last of them; axes in a circle are left out."""
        order: list[int] = []

        def visit(k: int) -> None:
            order.append(k)
            for child, conditions in enumerate(self.conditions):
                parents = {condition.parent for condition in conditions}
                if k in parents and child not in order and parents <= set(order):
                    visit(child)

        for k, conditions in enumerate(self.conditions):
            if not conditions:
                visit(k)
        return tuple(order)

    def active(self, places: Sequence[Array | Index]) -> Mask:  # d times (m,) -> (m, d)
        """Which axes are there, given where each stands; where one stands that is not there does not matter."""
        active = np.ones((len(places[0]), len(places)), dtype=bool)
        for k in self.order:
            for condition in self.conditions[k]:
                active[:, k] &= active[:, condition.parent] & condition.holds(places[condition.parent])
        return active

    def count(self, sizes: Sequence[float]) -> tuple[int, set[int]]:
        """How many points differ in what is there, for axes of these sizes, and which axes are there at some point.

        A continuous axis, of infinite size, counts as the number of its parts that its children tell apart. Axes are
        gone through in order; what is kept of a point is where those parents stand that still have children to come.
        """
        last = {c.parent: place for place, k in enumerate(self.order) for c in self.conditions[k]}
        ways: dict[tuple[tuple[int, float], ...], int] = {(): 1}
        reached = set()
        for now, k in enumerate(self.order):
            after: dict[tuple[tuple[int, float], ...], int] = {}
            for state, count in ways.items():
                at = dict(state)
                here = all(c.parent in at and c.holds(np.array(at[c.parent])) for c in self.conditions[k])
                reached |= {k} if here else set()
                for place, weight in self._parts(k, sizes[k]) if here else [(math.nan, 1)]:
                    stands = {**at, k: place} if here else at
                    kept = tuple((p, where) for p, where in stands.items() if last.get(p, -1) > now)
                    after[kept] = after.get(kept, 0) + count * weight
            ways = after
        return sum(ways.values()), reached

    def _parts(self, k: int, size: float) -> list[tuple[float, int]]:
        """The first place of each part of an axis that its children tell apart, and how many places it has."""
        spans = [span for conditions in self.conditions for c in conditions if c.parent == k for span in c.spans]
        if size == math.inf:
            starts = {0.0, *(low for low, _ in spans), *(math.nextafter(high, math.inf) for _, high in spans)}
            return [(start, 1) for start in sorted(starts) if 0.0 <= start <= 1.0]
        borders = sorted({0, size, *(min(edge, size) for low, high in spans for edge in (low, high + 1))})
        return [(start, round(end - start)) for start, end in pairwise(borders)]
