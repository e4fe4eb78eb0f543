"""Which axes of a cube exist at a point, if some exist only for certain values of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aegisbo.arrays import Array, Index, Mask

Spans = tuple[tuple[float, float], ...]  # ends included


@dataclass(frozen=True)
class Condition:
    """An axis exists only if its parent does and lies in one of these spans."""

    parent: int  # which axis
    spans: Spans  # of its levels; of its coordinate where it is continuous

    def holds(self, places: Array | Index) -> Mask:  # (m,) -> (m,)
        held = np.zeros(len(places), bool)
        for low, high in self.spans:
            held |= (low <= places) & (places <= high)
        return held


@dataclass(frozen=True)
class Branches:
    """The conditions of all axes; those of one axis must all hold."""

    conditions: tuple[tuple[Condition, ...], ...]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The axes, each soon after the last of its parents; axes in a circle are left out."""
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

    @cached_property
    def parents(self) -> frozenset[int]:
        """The axes that conditions are about."""
        return frozenset(condition.parent for conditions in self.conditions for condition in conditions)

    def active(self, places: Sequence[Array | Index]) -> Mask:  # d times (m,) -> (m, d)
        """Which axes exist, given the place of each parent; the place of an axis that does not exist is ignored."""
        active = np.ones((len(places), len(places[0])), dtype=bool)
        for k in self.order:
            for condition in self.conditions[k]:
                active[k] &= active[condition.parent]
                active[k] &= condition.holds(places[condition.parent])
        return active.T

    def is_reached(self, k: int) -> bool:
        """Whether an axis exists at some point: its conditions and those of all above it can hold together."""
        wanted: dict[int, list[Condition]] = {}
        above = [k]
        for member in above:  # the list grows meanwhile
            for condition in self.conditions[member]:
                wanted.setdefault(condition.parent, []).append(condition)
                above += [] if condition.parent in above else [condition.parent]
        return all(self._can_hold(conditions) for conditions in wanted.values())

    @staticmethod
    def _can_hold(conditions: list[Condition]) -> bool:
        """Whether one place satisfies all: if any does, then one where a span begins."""
        places = np.array([low for condition in conditions for low, _ in condition.spans])
        return bool(np.all([condition.holds(places) for condition in conditions], axis=0).any())

    def levels(self, sizes: Sequence[int], most: int) -> Index | None:
        """The levels of all distinct points (m, d) of axes of these sizes; 0 for axes that do not exist.

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
