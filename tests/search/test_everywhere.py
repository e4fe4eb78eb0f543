from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import best_starts, uniform
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot
from aegisbo.strategies.presets import PAPER

NO_HINT = np.empty((0, 1))  # good points that a search may be told of


@dataclass
class Bowl:
    """Lowest at 0.37 in every coordinate; keeps what it is asked to screen."""

    screened: list = field(default_factory=list)

    def screen(self, Z):
        self.screened.append(Z)
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        return ((Z - 0.37) ** 2).sum(axis=1), 2 * (Z - 0.37)


@pytest.mark.parametrize(
    "cube", [Cube((Continuous(),) * 3), Cube((Continuous(), OneHot(4), Grid(0, 9))), Cube((Grid(1, 3),))]
)
def test_a_thousand_candidates_for_each_parameter_are_looked_at(cube):
    bowl = Bowl()
    choices = PAPER.search(bowl, cube, np.random.default_rng(0), NO_HINT)
    candidates = np.vstack(bowl.screened)
    assert candidates.shape == (1000 * cube.parameters, cube.width)
    np.testing.assert_array_equal(cube.round(candidates), candidates)
    assert choices.shape == (10, cube.width)
    np.testing.assert_array_equal(cube.round(choices), choices)


def test_the_minimum_comes_first():
    choices = PAPER.search(Bowl(), Cube((Continuous(),) * 3), np.random.default_rng(1), NO_HINT)
    np.testing.assert_allclose(choices[0], 0.37, atol=1e-5)


def test_other_minima_follow_by_their_height():
    class Wells(Bowl):
        """Lowest at 0.37, less low at the ends."""

        def value_and_gradient(self, Z):
            return -np.cos(20 * (Z - 0.37)).sum(axis=1) + 5 * (Z[:, 0] - 0.37) ** 2, (
                20 * np.sin(20 * (Z - 0.37)) + 10 * (Z - 0.37)
            )

    def any_starts(values, count, rng):
        return rng.choice(len(values), count)

    choices = EverywhereSearch(uniform, any_starts)(Wells(), Cube((Continuous(),)), np.random.default_rng(0), NO_HINT)
    heights = Wells().value_and_gradient(choices)[0]
    assert len(np.unique(np.round(heights, 3))) >= 3
    assert (np.diff(heights) >= 0).all()


def test_levels_next_to_the_minimum_come_first():
    cube = Cube((Grid(0, 9), Continuous()))  # levels at 0.05, 0.15, ...
    choices = PAPER.search(Bowl(), cube, np.random.default_rng(1), NO_HINT)
    np.testing.assert_allclose(choices[0], [0.35, 0.37], atol=1e-5)


def test_the_start_points_and_their_spread_can_be_chosen():
    def one_corner(n, d, rng):
        return np.full((n, d), 0.9)

    bowl = Bowl()
    search = EverywhereSearch(one_corner, best_starts, candidates=7, starts=2)
    assert search(bowl, Cube((Continuous(),) * 2), np.random.default_rng(0), NO_HINT).shape == (2, 2)
    np.testing.assert_array_equal(np.vstack(bowl.screened), np.full((14, 2), 0.9))


def test_uniform_candidates_fill_the_cube():
    points = uniform(1000, 2, np.random.default_rng(0))
    counts = np.histogram2d(*points.T, bins=4, range=[[0, 1], [0, 1]])[0]
    assert counts.sum() == 1000
    assert counts.min() > 30
