"""Which objectives are in conflict, as far as their models know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from aegisbo.arrays import Array
from aegisbo.review.predicted_front import PredictedFront

NOTICEABLE = 0.05  # least price of a conflict


@dataclass(frozen=True)
class Conflict:
    """How much two objectives are in each other's way."""

    one: str
    other: str
    # Wherever one goes, one of the two gives up at least this share of the way from its typical value, the median over
    # the space, to its best: 0 if one point is best in both, and 1 if nothing is better than typical in both.
    price: float
    agreement: float | None  # rank correlation over the space: 1 if what is good for one is good for the other
    along: float | None  # the same along the predicted front; with two objectives it is -1 and says nothing

    @property
    def text(self) -> str:
        """The finding in words."""
        names = f"{self.one} and {self.other}"
        shares = {"over the space": self.agreement, "along the front": self.along}
        told = ", ".join(f"{share:.2f} {where}" for where, share in shares.items() if share is not None)
        ranks = f" (rank correlation {told})" if told else ""
        if self.price < NOTICEABLE:
            near = f"{max(self.price, 0.01):.0%}"
            return f"{names} are hardly in conflict: some point is within {near} of what each can gain{ranks}."
        return (
            f"{names} are in conflict: at any point one of them gives up {self.price:.0%} of what it can gain{ranks}."
        )


def conflicts(names: Sequence[str], found: PredictedFront) -> tuple[Conflict, ...]:
    """How each pair of objectives stands to each other."""
    if not len(found.spread):  # so little of the space counts that none of it was met
        return ()
    several = len(names) > 2
    return tuple(
        Conflict(
            names[a],
            names[b],
            price(np.vstack([found.F, found.spread])[:, [a, b]], np.median(found.spread[:, [a, b]], axis=0)),
            rank_correlation(found.spread[:, a], found.spread[:, b]),
            rank_correlation(found.F[:, a], found.F[:, b]) if several else None,
        )
        for a, b in combinations(range(len(names)), 2)
    )


def price(F: Array, typical: Array) -> float:  # (n, 2), (2,)
    """The share of the way from typical to best that one of two objectives gives up at least at any row of F."""
    best = F.min(axis=0)
    way = typical - best
    given_up = (F - best) / np.where(way > 0.0, way, 1.0)
    return float(given_up[:, way > 0.0].max(axis=1, initial=0.0).min())


def rank_correlation(a: Array, b: Array) -> float | None:  # (n,), (n,)
    """Spearman's coefficient, where equal values share their mean rank; None if all of one are equal."""
    ranks = np.stack([_ranks(a), _ranks(b)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = np.sqrt((ranks**2).sum(axis=1))
    return float(ranks[0] @ ranks[1] / sizes.prod()) if sizes.all() else None


def _ranks(values: Array) -> Array:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[places])
