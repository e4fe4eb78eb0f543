"""Which axes of a cube are there at a point, where some are there only at certain places of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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

    def levels(self, sizes: Sequence[int], most: int) -> Index | None:
        """Where axes with so many levels stand at all points that differ in what is there (m, d); 0 for what is not.

        The points are in the order of a counter on which each axis turns faster than its parents. None if there are
        more than `most`.
        """
        levels = np.zeros((1, len(sizes)), np.intp)
        for k in self.order:
            here = np.where(self.active(list(levels.T))[:, k], sizes[k], 1)  # (m,)
            if here.sum() > most:
                return None
            levels = np.repeat(levels, here, axis=0)
            levels[:, k] = np.arange(len(levels)) - np.repeat(np.cumsum(here) - here, here)
        return levels
