"""The front of several objectives: the evaluated points of which no other is better in everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aegisbo.arrays import Array, Index
from aegisbo.optimizer.best import compared_by
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.policy import Policy
from aegisbo.optimizer.several import Several
from aegisbo.optimizer.trial import Trial
from aegisbo.search.hypervolume import front
from aegisbo.strategies.base import Evidence, Memory

SMOOTHED = "Values are noisy: the front is that of the posterior means."
UNSMOOTHED = "Values are noisy, but there is no model to smooth them: the front is that of the values measured."
BROKEN = "No evaluation has kept all limits."


def front_of(
    objectives: tuple[Objective, ...],
    done: Sequence[Trial],
    evidence: Evidence,
    policy: Policy,
    memory: Memory,
    number: int,
) -> tuple[Several, str]:
    """The front of the trials that are the rows of the evidence, and what the user must be told of it.

    If values are noisy it is the front of the posterior means.
    """
    losses, remark = compared_by(evidence, policy, memory, number, SMOOTHED, UNSMOOTHED)
    rows = rows_of_front(evidence, losses)
    counting = {done[row].number: tuple(losses[row].tolist()) for row in np.flatnonzero(evidence.kept).tolist()}
    several = Several(objectives, tuple(done[row] for row in rows), counting)
    return several, " ".join(filter(None, [remark, "" if len(rows) else BROKEN]))


def rows_of_front(evidence: Evidence, losses: Array) -> Index:  # (n, m) -> (k,)
    """The rows that keep all limits and constraints and that no other such row dominates, by the first objective."""
    kept = np.flatnonzero(evidence.kept)
    return np.asarray(kept[front(losses[kept])])
