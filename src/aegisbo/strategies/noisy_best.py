"""Who is best where values are noisy: the lowest value measured is the luckiest, not the lowest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import GOOD, Belief


def best_by_mean(belief: Belief, evidence: Evidence) -> Belief:
    """The belief in which points are as good as their posterior means; those that break limits do not count."""
    points = evidence.X[evidence.kept]
    if not len(points):
        return belief
    means = by_blocks(belief.gp.mean, points)
    lowest = np.argsort(means, kind="stable")[:GOOD]
    return replace(belief, best=float(means[lowest[0]]), good=points[lowest])
