"""The published code's inner searches: which starts are drawn, and how they descend."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from aegis_paper.reference.search import OF_PATHS, SeparateRuns, boltzmann_starts, drawn_starts, improving_starts
from scipy.stats import chi2, chisquare

from aegisbo.arrays import Array
from aegisbo.space.cube import Continuous, Cube

PLANE = Cube((Continuous(), Continuous()))
NO_HINT = np.empty((0, 2))  # good points that a search may be told of


@dataclass(frozen=True)
class Bowls:
    """Two bowls of different depth, and how many points each call had."""

    centers: Array = field(default_factory=lambda: np.array([[0.2, 0.7], [0.9, 0.1]]))
    rows: list[int] = field(default_factory=list)

    def screen(self, Z: Array) -> Array:
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        self.rows.append(len(Z))
        offsets = Z[:, None, :] - self.centers  # (m, 2, 2)
        heights = np.square(offsets).sum(axis=2) + np.array([0.0, 0.05])
        nearest = heights.argmin(axis=1)
        return heights.min(axis=1), 2 * offsets[np.arange(len(Z)), nearest]


# Starts


@pytest.mark.parametrize("count", [1, 2, 10, 60, 80])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boltzmann_starts_are_distinct_and_hold_the_lowest(count, dtype):
    values = (1e3 * np.random.default_rng(8).standard_normal(60) + 1e5).astype(dtype)
    for seed in range(50):
        chosen = boltzmann_starts(values, count, np.random.default_rng(seed))
        assert len(chosen) == len(set(chosen.tolist())) == min(count, 60)
        assert values.argmin() in chosen
        assert set(chosen.tolist()) <= set(range(60))


@pytest.mark.long
@pytest.mark.parametrize("values", [[-30.0, 20.5, 22.0, -29.0, 19.0, 20.0], [7.0] * 6])
def test_boltzmann_starts_follow_their_weights(values):
    values = np.array(values)
    lowest, draws = values.argmin(), 6000
    rng = np.random.default_rng(9)
    companions = [set(boltzmann_starts(values, 2, rng).tolist()) - {lowest} for _ in range(draws)]
    observed = np.bincount([companion.pop() for companion in companions], minlength=6)

    p = np.exp(-(values - values.mean()) / values.std()) if np.ptp(values) else np.ones(6)
    p /= p.sum()
    # Beside the lowest stands b: drawn first, whoever came second, or drawn second after the lowest.
    expected = draws * (p + p[lowest] * p / (1.0 - p[lowest]))
    others = np.arange(6) != lowest
    assert observed[lowest] == 0
    assert expected[others].sum() == pytest.approx(draws)
    statistic = np.sum((observed - expected)[others] ** 2 / expected[others])
    assert statistic < chi2.isf(1e-3, df=4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boltzmann_starts_beside_one_point_far_below_all_others(dtype):
    values = np.zeros(20_000, dtype=dtype)  # as far in standard deviations as N points can be: √N
    values[1234] = -1.0
    chosen = boltzmann_starts(values, 10, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 10
    assert 1234 in chosen


def test_boltzmann_starts_follow_only_their_generator():
    values = np.random.default_rng(10).standard_normal(500)
    first, again, other = (boltzmann_starts(values, 10, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert set(first.tolist()) != set(other.tolist())


def test_starts_of_a_path_are_drawn_by_their_standardized_value_and_may_miss_the_best() -> None:
    values = np.array([3.0, 1.0, 2.0, 7.0, -1.0])
    rng = np.random.default_rng(0)
    drawn = np.bincount([drawn_starts(values, 1, rng)[0] for _ in range(4000)], minlength=5)
    weights = np.exp(-(values - values.mean()) / values.std())
    assert chisquare(drawn, 4000 * weights / weights.sum()).pvalue > 1e-3


@pytest.mark.parametrize(
    "values", [np.zeros(30), np.full(30, 1e-300), np.arange(30.0), np.float32(np.arange(30) * 1e9)]
)
def test_starts_of_a_path_are_different_points(values: Array) -> None:
    assert len(set(drawn_starts(values, 10, np.random.default_rng(1)))) == 10


def test_starts_of_an_improvement_are_worthwhile_and_hold_the_best() -> None:
    improvement = np.array([1.0] + [0.5] * 20 + [0.99e-4] * 500 + [0.0] * 500)
    for seed in range(50):
        chosen = improving_starts(-improvement, 10, np.random.default_rng(seed))
        assert len(set(chosen)) == 10
        assert 0 in chosen
        assert max(chosen) <= 20


def test_starts_of_an_improvement_are_drawn_by_its_share_of_the_best() -> None:
    improvement = np.array([0.2, 1.0, 0.6, 1e-3])
    rng = np.random.default_rng(2)
    pairs = [improving_starts(-7.0 * improvement, 2, rng) for _ in range(4000)]
    first = np.bincount([a for a, b in pairs], minlength=4)
    weights = np.exp(improvement - 1)
    assert chisquare(first, 4000 * weights / weights.sum()).pvalue > 1e-3
    assert all(1 in pair for pair in pairs)


def test_the_bar_is_lowered_until_there_are_enough_starts() -> None:
    improvement = np.array([1.0] + [3e-6] * 9 + [1e-7] * 100)
    assert sorted(improving_starts(-improvement, 10, np.random.default_rng(3))) == list(range(10))


@pytest.mark.parametrize("positive", [0, 4])
def test_too_few_improvements_are_all_taken_and_filled_up(positive: int) -> None:
    improvement = np.append(np.linspace(1, 2, positive), np.zeros(50))
    chosen = improving_starts(-improvement, 10, np.random.default_rng(4))
    assert set(range(positive)) < set(chosen) | {-1}
    assert len(set(chosen)) == 10


# Descents


def test_every_start_descends_on_its_own_and_the_lowest_comes_first() -> None:
    bowls = Bowls()
    ends = OF_PATHS(bowls, PLANE, np.random.default_rng(5), NO_HINT)
    assert ends.shape == (10, 2)
    heights = bowls.screen(ends)
    assert (np.diff(heights) >= 0).all()
    np.testing.assert_allclose(ends[0], [0.2, 0.7], atol=1e-5)
    np.testing.assert_allclose(ends[-1], [0.9, 0.1], atol=1e-5)
    screened = sum(bowls.rows) - 10 - bowls.rows.count(1)
    assert screened == 2000
    assert bowls.rows.count(1) >= 20


def test_a_candidate_that_nobody_started_from_is_forgotten() -> None:
    """A start in the worse bowl ends there, although most candidates are lower."""
    candidates = np.random.default_rng(6).random((2000, 2))
    candidates[0] = [0.97, 0.05]
    (end,) = SeparateRuns(lambda n, d, rng: candidates, lambda values, count, rng: np.array([0]))(
        Bowls(), PLANE, np.random.default_rng(6), NO_HINT
    )
    np.testing.assert_allclose(end, [0.9, 0.1], atol=1e-5)
    assert Bowls().screen(candidates).min() < 0.01 < Bowls().screen(end[None])[0]
