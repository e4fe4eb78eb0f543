"""The search near good points, on functions whose minimum is known."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.search.descent import LINE_SEARCH
from aegisbo.search.inner_search import polish
from aegisbo.search.near_best import FINAL_EVALUATIONS, FINALISTS, NearBestSearch, children, race
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot

SEARCH = NearBestSearch()
MIXED = Cube((Continuous(), Grid(0, 9), OneHot(3)))


class Needle:
    """A wide bowl around 0.8, and a hole of width 0.002 at `hole`, much deeper: no uniform candidate will hit it."""

    def __init__(self, hole):
        self.hole = hole
        self.screened = []

    def screen(self, Z):
        self.screened.append(Z)
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        away = Z - self.hole
        depth = 5.0 * np.exp(-0.5 * (away**2).sum(axis=1) / 0.002**2)
        return ((Z - 0.8) ** 2).sum(axis=1) - depth, 2.0 * (Z - 0.8) + depth[:, None] * away / 0.002**2


def test_a_narrow_minimum_beside_a_good_point_is_found():
    cube, hole = Cube((Continuous(),) * 4), np.array([0.11, 0.52, 0.31, 0.24])
    beside = np.vstack([hole + 0.001, np.full(4, 0.9)])
    found = SEARCH(Needle(hole), cube, np.random.default_rng(0), beside)
    np.testing.assert_allclose(found[0], hole, atol=1e-4)
    elsewhere = SEARCH(Needle(hole), cube, np.random.default_rng(0), np.full((2, 4), 0.9))
    np.testing.assert_allclose(elsewhere[0], 0.8, atol=1e-5)


def test_a_wide_minimum_far_from_every_good_point_is_found():
    corner = np.full((5, 6), 0.05)
    found = SEARCH(Needle(np.full(6, 2.0)), Cube((Continuous(),) * 6), np.random.default_rng(1), corner)
    np.testing.assert_allclose(found[0], 0.8, atol=1e-5)


def test_starts_are_the_best_of_both_kinds():
    cube, needle, good = Cube((Continuous(),) * 3), Needle(np.full(3, 2.0)), np.full((2, 3), 0.3)
    starts = SEARCH.promising(needle, cube, np.random.default_rng(0), good)
    screened = np.vstack(needle.screened)
    assert screened.shape == (200 * 3 + 2 + 50 * 3, 3)
    heights = needle.value_and_gradient(screened)[0]
    anywhere, near = np.sort(heights[:600])[:7], np.sort(heights[600:])[:3]
    np.testing.assert_array_equal(np.sort(needle.value_and_gradient(starts[:7])[0]), anywhere)
    np.testing.assert_array_equal(np.sort(needle.value_and_gradient(starts[7:])[0]), near)


def test_children_mix_their_parents_and_move():
    parents = np.array([[0.2] * 8, [0.7] * 8])
    born = children(parents, Cube((Continuous(),) * 8), 4000, np.random.default_rng(0))
    assert born.min() >= 0.0
    assert born.max() <= 1.0
    nearer = np.abs(born[:, :, None] - np.array([0.2, 0.7])).argmin(axis=2)  # which parent each coordinate is of
    unmoved = np.isin(born, parents)
    mixed = nearer.min(axis=1) != nearer.max(axis=1)
    # Half of the children have different parents; of those, 0.7 are mixtures (but for a few by chance, and by moves).
    assert mixed[unmoved.mean(axis=1) > 0.5].mean() == pytest.approx(0.35, abs=0.06)
    # Half move in all coordinates, half in two of eight on average.
    assert unmoved.mean() == pytest.approx(0.5 * 0.75, abs=0.03)


@pytest.mark.parametrize("cube", [MIXED, Cube((Grid(0, 4), OneHot(2)))])
def test_children_can_be_evaluated(cube):
    good = cube.fill(np.random.default_rng(0).random((3, cube.parameters)))
    born = children(good, cube, 200, np.random.default_rng(1))
    np.testing.assert_array_equal(cube.round(born), born)
    assert len(np.unique(born, axis=0)) > 5


class Branin:
    """On [-5, 10] x [0, 15], with three minima of equal depth; keeps how many points each call had."""

    lowest = 0.39788735772973816

    def __init__(self):
        self.sizes = []

    def screen(self, Z):
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        self.sizes.append(len(Z))
        u, v = 15.0 * Z[:, 0] - 5.0, 15.0 * Z[:, 1]
        bend, tilt, ripple = 5.1 / (4.0 * np.pi**2), 5.0 / np.pi, 10.0 * (1.0 - 1.0 / (8.0 * np.pi))
        valley = v - bend * u**2 + tilt * u - 6.0
        by_u = 2.0 * valley * (tilt - 2.0 * bend * u) - ripple * np.sin(u)
        return valley**2 + ripple * np.cos(u) + 10.0, 15.0 * np.column_stack([by_u, 2.0 * valley])


@pytest.mark.parametrize("seed", range(4))
def test_a_race_ends_where_complete_descents_end(seed):
    """On Branin any start leads to one of three minima of equal depth."""
    starts = np.random.default_rng(seed).random((8, 2))
    ends = race(Branin(), starts)
    assert ends.shape == (8, 2)
    heights = Branin().value_and_gradient(ends)[0]
    np.testing.assert_allclose(heights[:2], Branin.lowest, rtol=1e-9)
    assert (np.diff(heights) >= -1e-9).all()


def test_only_the_finalists_of_a_race_go_all_the_way():
    branin = Branin()
    race(branin, np.random.default_rng(0).random((8, 2)))
    sprint = branin.sizes.index(2)
    assert set(branin.sizes[:sprint]) == {8}
    assert set(branin.sizes[sprint:]) == {2}
    assert sprint <= 2 * 12  # steps, some of which look twice


class LongValley:
    """Rosenbrock's function of many coordinates: from most starts it takes two hundred evaluations to its end."""

    def __init__(self):
        self.calls = []

    def value_and_gradient(self, Z):
        self.calls.append(len(Z))
        a, b = (6.0 * Z - 3.0)[:, :-1], (6.0 * Z - 3.0)[:, 1:]
        gradient = np.zeros_like(Z)
        gradient[:, :-1] = -400.0 * a * (b - a**2) - 2.0 * (1.0 - a)
        gradient[:, 1:] += 200.0 * (b - a**2)
        return (100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2).sum(axis=1), 6.0 * gradient


def test_finalists_do_not_go_on_for_ever():
    valley, starts = LongValley(), np.random.default_rng(2).random((10, 20))
    ahead = race(valley, starts)[:FINALISTS]
    assert FINAL_EVALUATIONS < valley.calls.count(FINALISTS) <= FINAL_EVALUATIONS + LINE_SEARCH
    longer = polish(LongValley(), ahead)  # there is more to gain
    assert LongValley().value_and_gradient(longer)[0].min() < LongValley().value_and_gradient(ahead)[0].min()
