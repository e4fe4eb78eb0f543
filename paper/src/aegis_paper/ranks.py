"""Average ranks of methods on many instances of a problem (section 5.2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array

DRAWS = 1000  # of each instance: one draw picks one run of each method


def ranks_of(instances: Sequence[Sequence[Array]], seed: int = 0) -> Array:  # (instances, methods, budget)
    """On each instance the mean rank of each method after each evaluation, 1 for the best; equal scores share theirs.

    `instances` holds for each instance one array of scores a method, (its runs, budget). As in the paper, runs are
    drawn for each method on its own, so the numbers of runs may differ.
    """
    rng = np.random.default_rng(seed)
    return np.array([_ranks_on_instance(scores, rng) for scores in instances])


def _ranks_on_instance(scores: Sequence[Array], rng: Generator) -> Array:  # [(runs, budget)] -> (methods, budget)
    picks = [rng.integers(len(runs), size=DRAWS) for runs in scores]
    ranks = np.ones((len(scores), scores[0].shape[1]))
    # A rank is one more than the number of methods that are ahead, and half a place for each that is level.
    for i, j in permutations(range(len(scores)), 2):
        mine, theirs = scores[i][:, None, :], scores[j][None, :, :]
        ahead = (theirs < mine) + 0.5 * (theirs == mine)  # (runs of i, runs of j, budget)
        drawn = np.zeros(ahead.shape[:2])
        np.add.at(drawn, (picks[i], picks[j]), 1 / DRAWS)
        ranks[i] += np.tensordot(drawn, ahead, axes=2)
    return ranks
