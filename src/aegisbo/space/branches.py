"""Which axes of a cube are there at a point, where some are there only at certain places of others."""

from __future__ import annotations

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

    def is_reached(self, k: int) -> bool:
        """Whether an axis is there at some point: what it and all above it ask for can be had at once."""
        wanted: dict[int, list[Condition]] = {}
        above = [k]
        for member in above:  # which grows meanwhile
            for condition in self.conditions[member]:
                wanted.setdefault(condition.parent, []).append(condition)
                above += [] if condition.parent in above else [condition.parent]
        return all(self._can_hold(conditions) for conditions in wanted.values())

    @staticmethod
    def _can_hold(conditions: list[Condition]) -> bool:
        """Whether one place fulfills all: if any does, then one at which a span begins."""
        places = np.array([low for condition in conditions for low, _ in condition.spans])
        return bool(np.all([condition.holds(places) for condition in conditions], axis=0).any())

    def count(self, sizes: Sequence[int]) -> int:
        """How many points differ in what is there, for axes with so many levels.

        Axes are gone through in order; what is kept of a point is where those parents stand that still have children to
        come.
        """
        last = {c.parent: place for place, k in enumerate(self.order) for c in self.conditions[k]}
        ways: dict[tuple[tuple[int, int], ...], int] = {(): 1}
        for now, k in enumerate(self.order):
            after: dict[tuple[tuple[int, int], ...], int] = {}
            parts = self._parts(k, sizes[k])
            for state, count in ways.items():
                at = dict(state)
                here = all(c.parent in at and c.holds(np.array(at[c.parent])) for c in self.conditions[k])
                for place, weight in parts if here else [(0, 1)]:
                    stands = {**at, k: place} if here else at
                    kept = tuple((p, where) for p, where in stands.items() if last.get(p, -1) > now)
                    after[kept] = after.get(kept, 0) + count * weight
            ways = after
        return sum(ways.values())

    def _parts(self, k: int, size: int) -> list[tuple[int, int]]:
        """One level of each kind that its children tell apart, and how many levels are of this kind."""
        conditions = [c for of_one in self.conditions for c in of_one if c.parent == k]
        edges = [edge for c in conditions for low, high in c.spans for edge in (low, high + 1)]
        kinds: dict[tuple[bool, ...], tuple[int, int]] = {}
        for start, end in pairwise(sorted({0, size, *(round(min(edge, size)) for edge in edges)})):
            answers = tuple(bool(c.holds(np.array(start))) for c in conditions)
            level, count = kinds.get(answers, (start, 0))
            kinds[answers] = level, count + end - start
        return list(kinds.values())
