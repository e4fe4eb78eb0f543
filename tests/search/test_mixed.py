from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from moving import believed, exploit, thompson

from aegisbo.gp import paths
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import GP, condition
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.mixed import MixedSearch, local_minima
from aegisbo.search.near_best import NearBestSearch
from aegisbo.search.neighbors import FIRST, LOWEST, MANY, lowest_first, neighbors, walk
from aegisbo.space import Choice, Real, Space
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.moves.exploit import Mean
from aegisbo.strategies.moves.thompson import posterior_path

FEW = MixedSearch(NearBestSearch(candidates=20), listed=20)  # so that these cubes are not looked at in full
CORNER = np.zeros((1, 2))  # a hint that is none
DISCRETE = {
    "levels and a choice": Cube((Grid(0, 11), Grid(1, 64, 7, log=True), OneHot(3), Grid(-4, 20, 3))),
    "long grids": Cube((Grid(0, 99), Grid(1, 60, log=True))),
    "choices": Cube((OneHot(4), OneHot(5), OneHot(3), OneHot(4), OneHot(3))),
}
MIXED = {
    "a line on levels": Cube((Grid(0, 9), Continuous(), OneHot(3))),
    "a line on choices": Cube((OneHot(4), OneHot(5), Continuous())),
    "a plane on levels": Cube((Continuous(), Grid(1, 32, log=True), Continuous())),
}


def posterior_on(cube: Cube, seed: int) -> GP:
    """Of a function drawn from the prior, with length scales from rough to smooth, after thirty measurements."""
    rng = np.random.default_rng(seed)
    kernel = Matern52(lengthscale=rng.uniform(0.3, 1.0, cube.width), outputscale=1.0)
    X = cube.fill(rng.random((30, cube.parameters)))
    K = kernel.gram(X) + 1e-4 * np.eye(30)
    return condition(kernel, 1e-4, X, np.linalg.cholesky(K) @ rng.normal(size=30))


def finely(cube: Cube, steps: int = 21) -> np.ndarray:
    """All points of the cube, those of a continuous axis by small steps."""
    return Cube(tuple(Grid(0, steps - 1) if axis == Continuous() else axis for axis in cube.axes)).every_point


def searched(cube: Cube, kind: str, seed: int):
    """A function (m, width) -> (m,), and the choices of the search among neighbors and of the plain one."""
    gp = posterior_on(cube, seed)
    both = [FEW, EverywhereSearch(candidates=20)]
    if kind == "mean":
        return lambda Z: gp.predict(Z)[0], *(exploit(gp, cube, search, np.random.default_rng(seed)) for search in both)
    path = paths.draw(gp, np.random.default_rng(seed), features=300)  # the one that `thompson` draws
    return lambda Z: path(Z)[0], *(thompson(gp, cube, search, 300, np.random.default_rng(seed)) for search in both)


@dataclass
class Recorded:
    """A ripply bowl that is lowest at 0.37; keeps where it is evaluated."""

    seen: list = field(default_factory=list)

    def screen(self, Z):
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        self.seen.append(Z.copy())
        u = Z - 0.37
        return (u**2 - 0.1 * np.cos(20 * u)).sum(axis=1), 2 * u + 2 * np.sin(20 * u)


# What a neighbor is


def test_neighbors_differ_in_one_parameter_by_one_level_or_by_any_choice():
    cube = Cube((Grid(1, 4, log=True), OneHot(4), Continuous(), Grid(5, 9, 2)))
    sizes = (4, 4, 3)
    columns = (slice(0, 1), slice(1, 5), slice(6, 7))

    def levels(points):
        return np.stack([cube.axes[k].levels(points[:, c]) for k, c in zip((0, 1, 3), columns, strict=True)], axis=1)

    points = cube.fill(np.random.default_rng(0).random((50, 4)))
    found = neighbors(Recorded(), cube, points)
    np.testing.assert_array_equal(found[:, :, 5], np.broadcast_to(points[:, 5:6], found.shape[:2]))
    np.testing.assert_array_equal(cube.round(found.reshape(-1, 7)), found.reshape(-1, 7))
    for here, around in zip(levels(points), found, strict=True):
        expected = {
            there
            for there in np.ndindex(sizes)
            if np.count_nonzero(here - there) == 1 and abs(here - there)[[0, 2]].max() <= 1
        }
        assert {tuple(map(int, there)) for there in levels(around)} - {tuple(map(int, here))} == expected


def test_long_grids_are_crossed_by_longer_and_longer_moves():
    grid = Grid(0, 999)
    around = neighbors(Recorded(), Cube((grid,)), grid.points(np.array([500])))
    assert sorted(grid.levels(around[0])) == [244, 436, 484, 496, 499, 501, 504, 516, 564, 756]
    at_the_end = neighbors(Recorded(), Cube((grid,)), grid.points(np.array([998])))
    assert set(grid.levels(at_the_end[0])) == {742, 934, 982, 994, 997, 999}


def test_of_a_choice_with_many_values_the_lowest_are_neighbors():
    """Against all values, of which none is asked for its gradient unless it is among the lowest."""
    cube = Cube((Continuous(), OneHot(MANY + 200), Grid(0, 9)))
    heights = np.random.default_rng(0).normal(size=cube.width)

    class Hills(Recorded):
        def screen(self, Z):
            assert len(Z) <= 300  # not all at once: with thousands of values they would fill the memory
            return (Z @ heights).astype(np.float32)

    points = cube.fill(np.random.default_rng(1).random((4, 3)))
    hills = Hills()
    found = neighbors(hills, cube, points)
    assert not hills.seen
    levels = cube.axes[1].levels(found[..., cube.columns[1]].reshape(-1, MANY + 200)).reshape(4, -1)
    for point, here in zip(cube.axes[1].levels(points[:, cube.columns[1]]), levels, strict=True):
        others = np.delete(np.argsort(heights[cube.columns[1]]), np.argsort(heights[cube.columns[1]]) == point)
        assert set(here) == {point, *others[:LOWEST]}


def test_points_are_ranked_once_each_also_where_axes_are_absent():
    space = Space(
        {
            "kind": Choice(["a", "b", "c"]),
            "x": Real(0, 1, when={"kind": "a"}),
            "sub": Choice([1, 2, 3], when={"kind": ["b", "c"]}),
        }
    )
    drawn = space.cube.fill(np.random.default_rng(0).random((300, 3)))
    points = np.vstack([drawn, drawn[::-1]])
    flat = Recorded()
    flat.value_and_gradient = lambda Z: (np.zeros(len(Z)), Z)
    np.testing.assert_array_equal(lowest_first(flat, space.cube, points), np.unique(points, axis=0))


# What is found


@pytest.mark.parametrize("kind", ["mean", "path"])
@pytest.mark.parametrize(("name", "rate"), [("levels and a choice", 0.9), ("long grids", 0.9), ("choices", 0.4)])
def test_the_lowest_of_all_points_is_mostly_found(name, rate, kind):
    """Against every point; between choices alone a function is so rough that a descent seldom leads far."""
    cube = DISCRETE[name]
    hits, plain_hits = [], []
    for seed in range(10):
        function, choices, plain = searched(cube, kind, seed)
        lowest = function(cube.every_point).min()
        hits.append(function(choices[:1])[0] <= lowest + 1e-9)
        plain_hits.append(function(plain[:1])[0] <= lowest + 1e-9)
    assert np.mean(hits) >= max(rate, np.mean(plain_hits))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["mean", "path"])
@pytest.mark.parametrize("name", MIXED)
def test_with_continuous_coordinates_hardly_any_fine_grid_point_is_lower(name, kind):
    missed = 0
    for seed in range(10):
        function, choices, _ = searched(MIXED[name], kind, seed)
        missed += function(choices[:1])[0] > function(finely(MIXED[name])).min() + 1e-9
    assert missed <= 2


@pytest.mark.long
@pytest.mark.parametrize("kind", ["mean", "path"])
@pytest.mark.parametrize("name", [*DISCRETE, *MIXED])
def test_no_neighbor_is_lower_and_rounding_alone_never_is(name, kind):
    cube = {**DISCRETE, **MIXED}[name]
    for seed in range(5):
        function, choices, plain = searched(cube, kind, seed)
        heights = function(choices)
        np.testing.assert_array_equal(cube.round(choices), choices)
        assert len(np.unique(choices, axis=0)) == len(choices) > 10
        assert (np.diff(heights) >= -1e-9).all()
        assert function(neighbors(Recorded(), cube, choices[:1])[0]).min() >= heights[0] - 1e-9
        assert function(plain).min() >= heights[0] - 1e-9


def test_no_value_of_a_long_choice_is_lower():
    cube = Cube((OneHot(MANY + 40), Continuous()))
    gp = posterior_on(cube, seed=0)
    path = paths.draw(gp, np.random.default_rng(0), features=300)  # the one that `thompson` draws
    best = thompson(gp, cube, FEW, 300, np.random.default_rng(0))[0]
    elsewhere = np.hstack([np.eye(MANY + 40), np.full((MANY + 40, 1), best[-1])])
    assert path(elsewhere)[0].min() == pytest.approx(path(best[None])[0, 0], abs=1e-9)


def test_a_small_cube_is_ranked_in_full():
    cube = Cube((Grid(0, 6), OneHot(3), Grid(1, 50, 7, log=True)))
    gp = posterior_on(cube, seed=0)
    choices = exploit(gp, cube, MixedSearch(), np.random.default_rng(0))
    everything = cube.every_point
    np.testing.assert_array_equal(choices, everything[np.argsort(gp.predict(everything)[0])])


@pytest.mark.parametrize("kind", ["mean", "path"])
def test_of_many_points_the_first_are_in_order_and_none_is_missing(kind):
    cube = Cube((Grid(0, 20), OneHot(5), Grid(1, 50, 7, log=True)))
    gp = posterior_on(cube, seed=3)
    objective = Mean(gp) if kind == "mean" else posterior_path(gp, 300, np.random.default_rng(0))
    listed, everything = lowest_first(objective, cube, cube.every_point), cube.every_point
    exact = everything[np.argsort(objective.value_and_gradient(everything)[0])]
    assert len(everything) > 2 * FIRST
    np.testing.assert_array_equal(listed[:FIRST], exact[:FIRST])
    np.testing.assert_array_equal(np.unique(listed, axis=0), np.unique(everything, axis=0))


@pytest.mark.parametrize("kind", ["mean", "path", "improvement"])
@pytest.mark.parametrize("name", DISCRETE)
def test_a_walk_takes_the_way_that_it_would_take_without_screening(name, kind, monkeypatch):
    cube = DISCRETE[name]
    gp = posterior_on(cube, seed=1)
    objective = {
        "mean": Mean(gp),
        "path": posterior_path(gp, 300, np.random.default_rng(0)),
        "improvement": Improvement(gp, float(gp.y.min())),
    }[kind]
    corners = cube.fill(np.array([[0.0] * cube.parameters, [0.999] * cube.parameters]))  # where many moves stay
    starts = cube.round_all(np.vstack([corners, cube.fill(np.random.default_rng(2).random((20, cube.parameters)))]))
    screened = walk(objective, cube, starts)
    monkeypatch.setattr("aegisbo.search.neighbors.LOWEST", 10**6)
    np.testing.assert_array_equal(screened, walk(objective, cube, starts))
    assert (screened != starts).any(axis=1).sum() > 10


def test_where_all_is_continuous_the_search_is_the_plain_one():
    cube = Cube((Continuous(),) * 2)
    choices, plain = (
        search(Recorded(), cube, np.random.default_rng(3), CORNER) for search in (MixedSearch(), NearBestSearch())
    )
    np.testing.assert_array_equal(choices, plain)


# How it is found


def test_long_diagonal_valleys_are_followed_by_descent_between_the_levels():
    """From level to level every move across the valley leads up."""

    class Valley(Recorded):
        def value_and_gradient(self, Z):
            across, along = Z[:, 0] - Z[:, 1], Z.sum(axis=1) - 0.74
            slope = np.stack([200 * across + 2 * along, -200 * across + 2 * along], axis=1)
            return 100 * across**2 + along**2, slope

    cube = Cube((Grid(0, 99), Grid(0, 99)))
    choices = FEW(Valley(), cube, np.random.default_rng(0), CORNER)
    np.testing.assert_allclose(choices[0], 0.365)


@pytest.mark.parametrize("cube", [DISCRETE["levels and a choice"], *MIXED.values()])
def test_the_descent_compares_only_points_that_can_be_evaluated(cube):
    bowl = Recorded()
    starts = cube.fill(np.random.default_rng(1).random((5, cube.parameters)))
    minima = local_minima(bowl, cube, starts)
    seen = np.vstack(bowl.seen)
    np.testing.assert_array_equal(cube.round(seen), seen)
    assert bowl.screen(minima).min() == pytest.approx(bowl.screen(seen).min(), abs=1e-12)


def test_a_sweep_is_one_evaluation_for_all_points():
    cube = DISCRETE["levels and a choice"]
    ends = cube.every_point[[0, -1]]
    bowl = Recorded()
    local_minima(bowl, cube, ends)
    moves = neighbors(Recorded(), cube, ends).shape[1]
    sizes = [len(Z) for Z in bowl.seen]
    assert sizes[:2] == [2, 2 * moves]
    assert set(sizes[2:]) <= {moves, 2 * moves, LOWEST, 2 * LOWEST}  # screened, and looked at closely
    assert len(sizes) < 20


def rows_looked_at(cube: Cube, n: int) -> int:
    """In searches of three improvements, each over n data that gather around the lowest, as those of a run do."""

    @dataclass
    class Counted:
        improvement: Improvement
        rows: int = 0

        def screen(self, Z):
            self.rows += len(Z)
            return self.improvement.screen(Z)

        def value_and_gradient(self, Z):
            self.rows += len(Z)
            return self.improvement.value_and_gradient(Z)

    total = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        anywhere, lowest = cube.fill(rng.random((n, cube.parameters))), cube.fill(rng.random((1, cube.parameters)))
        X = np.unique(cube.round(lowest + 10.0 ** rng.uniform(-2, 0, (n, 1)) * (anywhere - lowest)), axis=0)
        away = X - lowest
        y = (away**2 + 0.1 * (1.0 - np.cos(9.0 * away))).sum(axis=1)
        gp = condition(Matern52(np.full(cube.width, 2.0), 1.0), 1e-8, X, (y - y.mean()) / y.std())
        counted = Counted(Improvement(gp, float(gp.y.min())))
        MixedSearch()(counted, cube, rng, believed(gp).good_points())
        total += counted.rows
    return total


@pytest.mark.parametrize("n", [50, 200])
def test_a_search_looks_at_no_more_than_twice_as_many_points_as_where_all_is_continuous(n):
    """However many data there are: each row costs the square of their number. All starts had gone to the last digit."""
    mixed = Cube((Continuous(), Continuous(), Grid(1, 64), OneHot(3)))
    assert rows_looked_at(mixed, n) <= 2 * rows_looked_at(Cube((Continuous(),) * 4), n)


def test_rounding_errors_cannot_keep_the_descent_going():
    @dataclass
    class Flat:
        """The same everywhere, but for errors that depend on the place in a batch."""

        calls: int = 0

        def value_and_gradient(self, Z):
            self.calls += 1
            assert self.calls < 1000
            return 1.0 - 1e-15 * np.arange(len(Z)), np.zeros_like(Z)

    cube = Cube((Continuous(), Grid(0, 9), OneHot(2)))
    minima = local_minima(Flat(), cube, cube.fill(np.full((1, 3), 0.5)))
    np.testing.assert_array_equal(cube.round(minima), minima)
