"""The published code's test against counting all signs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from aegis_paper.reference.statistics import two_sided_p


def by_counting(differences: list[float]) -> float:
    """Of all ways to choose the signs, the share whose rank sum is at least as far from its middle as what was seen."""
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    middle = ranks.sum() / 2
    seen = abs(ranks[np.array(differences) > 0].sum() - middle)
    sums = [abs(ranks[np.array(signs)].sum() - middle) for signs in product([False, True], repeat=len(differences))]
    return float(np.mean([each >= seen for each in sums]))


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.3, 1.0])
def test_both_tails_count(shift: float) -> None:
    rng = np.random.default_rng(0)
    best, other = rng.normal(size=9), rng.normal(size=9) + shift
    assert two_sided_p(best, other) == pytest.approx(by_counting(list(best - other)), rel=1e-12)
    assert two_sided_p(best, other) == pytest.approx(two_sided_p(other, best), rel=1e-12)


def test_identical_results_count_as_different() -> None:
    regrets = np.array([3e-6, 1e-5, 0.2])
    assert two_sided_p(regrets, regrets.copy()) == 0.0
