"""How much to explore, by the number of parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

Schedule = Callable[[int], float]  # ε(d), the share of exploratory moves


def by_sqrt(d: int) -> float:
    """2/√d, the paper's choice."""
    return min(2.0 / sqrt(d), 1.0)


def halved(d: int) -> float:
    """1/√d: half the paper's exploration, for a surrogate that can be trusted more."""
    return 1.0 / sqrt(d)


def faster(d: int) -> float:
    """2/(d − 2): exploration falls faster with the dimension."""
    return 2.0 / (max(d, 4) - 2)


def slower(d: int) -> float:
    """2/ln(d + 3): exploration falls more slowly with the dimension."""
    return min(2.0 / log(d + 3), 1.0)


@dataclass(frozen=True)
class Always:
    """The same share in every dimension."""

    share: float

    def __call__(self, d: int) -> float:
        return self.share
