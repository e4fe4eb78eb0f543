"""Medians, spreads and marks against SciPy, statsmodels and counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from aegis_paper.analysis import Mark, Scores, chance, holm, marks, span, summarize
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests


def runs(values: list[float], first: int = 0) -> Scores:
    return dict(enumerate(values, first))


def test_the_spread_is_the_middle_distance_from_the_middle() -> None:
    of = summarize([7.0, 1.0, 2.0, 4.0, 100.0])  # distances from 4: 3, 3, 2, 0, 96
    assert (of.n, of.median) == (5, 4.0)
    assert of.mad == pytest.approx(3 * 1.4826, rel=1e-5)


def test_the_spread_of_normal_scores_is_their_standard_deviation() -> None:
    scores = np.random.default_rng(1).normal(5, 3, 40_000)
    assert summarize(scores).mad == pytest.approx(3, rel=0.03)


@pytest.mark.parametrize("methods", [1, 2, 6, 10])
def test_holm_is_that_of_statsmodels(methods: int) -> None:
    p = np.random.default_rng(methods).choice([0.001, 0.004, 0.01, 0.02, 0.3, 0.9], methods)  # with ties
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


@pytest.mark.parametrize("seed", range(5))
def test_the_chance_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 11), rng.normal(0.5, 1, 11)
    for two_sided, alternative in ((False, "less"), (True, "two-sided")):
        expected = wilcoxon(a, b, alternative=alternative).pvalue
        assert chance(runs(a.tolist()), runs(b.tolist()), two_sided=two_sided) == pytest.approx(expected)


def test_only_shared_runs_are_compared() -> None:
    best, other = runs([0.0] * 9), runs([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], first=4)  # runs 4 to 8 are shared
    assert chance(best, other) == 1 / 32
    assert chance(best, other, two_sided=True) == 2 / 32
    assert chance(best, runs([1.0, 2.0, 3.0, 4.0, 5.0], first=5)) == 1.0  # four shared runs cannot tell
    assert chance(best, runs([1.0], first=20)) == 1.0


def test_equal_results_are_no_evidence_of_a_difference_except_for_the_published_code() -> None:
    assert chance(runs([1.0] * 11), runs([1.0] * 11)) == 1.0
    assert chance(runs([1.0] * 11), runs([1.0] * 11), two_sided=True) == 0.0


def test_marks_follow_the_corrected_test() -> None:
    rng = np.random.default_rng(3)
    scores = {
        name: runs(rng.normal(shift, 1, 11).tolist())
        for name, shift in [("a", 0.0), ("b", 0.3), ("c", 1.2), ("d", 2.5), ("e", 0.9)]
    }
    best = min(scores, key=lambda name: sorted(scores[name].values())[5])
    others = [name for name in scores if name != best]
    for two_sided, alternative in ((False, "less"), (True, "two-sided")):
        p = [
            wilcoxon([*scores[best].values()], [*scores[name].values()], alternative=alternative).pvalue
            for name in others
        ]
        rejected = multipletests(p, alpha=0.05, method="holm")[0]
        assert 0 < sum(rejected) < len(others), "all others alike: the test is too tame"
        expected = {name: Mark.WORSE if no else Mark.EQUIVALENT for name, no in zip(others, rejected, strict=True)}
        assert marks(scores, two_sided=two_sided) == {best: Mark.BEST} | expected


def test_one_sided_sees_a_little_more() -> None:
    """Five wins of five: 1/32 one-sided, 1/16 two-sided."""
    scores = {"a": runs([1, 2, 3, 4, 5]), "b": runs([2, 4, 6, 8, 10])}
    assert marks(scores) == {"a": Mark.BEST, "b": Mark.WORSE}
    assert marks(scores, two_sided=True) == {"a": Mark.BEST, "b": Mark.EQUIVALENT}


def test_methods_without_runs_have_no_mark() -> None:
    assert marks({"a": {}, "b": runs([1.0] * 5)}) == {"b": Mark.BEST}
    assert marks({"a": {}, "b": {}}) == {}


def test_numbers_of_runs() -> None:
    assert (span([11, 7, 9]), span([5, 5])) == ("7–11", "5")
