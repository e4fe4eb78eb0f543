"""NSGA-II against a front known in closed form, and its operators against the laws they sample from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from aegisbo.search import dominance, nsga2


class TwoBowls:
    """Squared distances to two points: the Pareto set is the segment between them."""

    def __init__(self, a, b):
        self.a, self.b = np.array(a), np.array(b)
        self.seen = []

    def __call__(self, X):
        self.seen.append(X.copy())
        return np.column_stack([((X - end) ** 2).sum(axis=1) for end in (self.a, self.b)])

    def distance_to_segment(self, X):
        along = self.b - self.a
        t = np.clip((X - self.a) @ along / (along @ along), 0.0, 1.0)
        return np.linalg.norm(X - self.a - t[:, None] * along, axis=1)

    @property
    def square(self):
        """D = |a - b|^2; the front is sqrt(F1) + sqrt(F2) = sqrt(D), which leaves 5/6 D^2 below (D, D)."""
        return float(((self.a - self.b) ** 2).sum())


def bowls(d):
    """Lopsided: one end near a corner, the other beside the middle."""
    return TwoBowls(np.linspace(0.05, 0.2, d), np.linspace(0.9, 0.4, d))


def share_of_volume(problem, F):
    D = problem.square
    return dominated_area(F, D) / (5 / 6 * D**2)


def dominated_area(F, corner):
    """The area between the rows of F and the point (corner, corner), slab by slab from left to right."""
    area, height = 0.0, corner
    for first, second in sorted(F.tolist()):
        if first < corner and second < height:
            area += (corner - first) * (height - second)
            height = second
    return area


@pytest.mark.parametrize(
    ("d", "generations", "away", "share"),
    [(2, 9, 0.02, 0.996), (5, 9, 0.1, 0.98), (10, 9, 0.25, 0.95), (5, 60, 0.03, 0.998)],
)
def test_the_front_approaches_the_known_one(d, generations, away, share):
    problem = bowls(d)
    archive = nsga2.search(problem, d, np.random.default_rng(d), generations=generations)
    assert np.median(problem.distance_to_segment(archive.X[archive.front])) < away
    assert share < share_of_volume(problem, archive.F) <= 1.0
    # The bound means something: as many uniform points fall short of it.
    uniform = np.random.default_rng(d).random(archive.X.shape)
    assert share_of_volume(problem, problem(uniform)) < share


def test_the_archive_holds_all_1000_d_evaluations_in_order():
    d = 3
    problem = bowls(d)
    archive = nsga2.search(problem, d, np.random.default_rng(4))
    assert [X.shape for X in problem.seen] == [(100 * d, d)] * 10
    np.testing.assert_array_equal(archive.X, np.vstack(problem.seen))
    np.testing.assert_array_equal(archive.F, problem(archive.X))
    assert archive.X.shape == (1000 * d, d)


def test_population_and_generations_can_be_given_apart_from_the_coordinates():
    problem = bowls(6)
    archive = nsga2.search(problem, 6, np.random.default_rng(4), population=10, generations=3)
    assert [X.shape for X in problem.seen] == [(10, 6)] * 4
    assert archive.F.shape == (40, 2)


def test_the_front_is_taken_over_the_whole_archive():
    archive = nsga2.search(bowls(2), 2, np.random.default_rng(6))
    np.testing.assert_array_equal(archive.front, np.flatnonzero(dominance.ranks(archive.F) == 0))
    assert (archive.front < 1800).any()  # not the last generation only
    flat = nsga2.search(lambda X: np.zeros((len(X), 2)), 2, np.random.default_rng(6))
    assert len(flat.front) == 2000  # copies are no worse than each other


def test_equal_generators_give_equal_archives_and_more_generations_only_append():
    runs = [
        nsga2.search(bowls(3), 3, np.random.default_rng(seed), generations=k) for seed, k in ((1, 5), (1, 5), (1, 2))
    ]
    np.testing.assert_array_equal(runs[0].X, runs[1].X)
    np.testing.assert_array_equal(runs[0].F, runs[1].F)
    np.testing.assert_array_equal(runs[0].X[: len(runs[2].X)], runs[2].X)
    assert not np.array_equal(runs[0].X, nsga2.search(bowls(3), 3, np.random.default_rng(2), generations=5).X)


@pytest.mark.parametrize("towards", [(0.0, 1.0), (-3.0, 0.0), (1.0, 4.0)])
def test_no_point_leaves_the_cube_when_the_front_hugs_its_faces(towards):
    problem = TwoBowls([towards[0]] * 4, [towards[1]] * 4)
    X = nsga2.search(problem, 4, np.random.default_rng(0)).X
    assert X.min() >= 0.0
    assert X.max() <= 1.0


def test_the_fittest_survive_with_their_standing():
    rng = np.random.default_rng(0)
    X, F = rng.random((60, 3)), rng.integers(0, 12, (60, 2)).astype(float)
    fronts = dominance.ranks(F)
    crowding = dominance.crowding(F, fronts)
    expected = sorted(range(60), key=lambda i: (fronts[i], -crowding[i], i))[:25]
    survivors = nsga2._fittest(X, F, 25)
    np.testing.assert_array_equal(survivors.X, X[expected])
    np.testing.assert_array_equal(survivors.F, F[expected])
    np.testing.assert_array_equal(survivors.fronts, dominance.ranks(F[expected]))
    np.testing.assert_array_equal(survivors.crowding, crowding[expected])


def test_parents_outlive_worse_children():
    calls = []

    def worse_every_generation(X):
        calls.append(X)
        return np.column_stack((X[:, 0], 1.0 - X[:, 0])) + len(calls)

    archive = nsga2.search(worse_every_generation, 3, np.random.default_rng(0), population=50, generations=6)
    np.testing.assert_array_equal(archive.front, np.arange(50))
    # So even the last children descend from the first population, and eta = 20 keeps every gene near some ancestor's.
    gap = np.abs(calls[-1][:, None, :] - calls[0][None, :, :]).min(axis=1)
    assert np.median(gap) < 0.02


def average_wins(fronts, crowding, rounds=2000):
    everybody = np.zeros((len(fronts), 2))
    population = nsga2._Population(everybody, everybody, fronts, crowding)
    rng = np.random.default_rng(5)
    winners = [nsga2._tournaments(population, rng) for _ in range(rounds)]
    assert all(np.bincount(w).max() <= 2 for w in winners)  # everybody enters twice
    return np.bincount(np.concatenate(winners), minlength=len(fronts)) / rounds


def test_tournaments_prefer_the_lower_front_then_more_room():
    n = 40
    place = np.random.default_rng(5).permutation(n)  # 0 is the best of all
    wins = average_wins(fronts=place // 4, crowding=-(place % 4).astype(float))
    expected = 2.0 * (n - 1 - place) / (n - 1)  # two random opponents, beaten if of a later place
    np.testing.assert_allclose(wins, expected, atol=5 * np.sqrt(0.5 / 2000))
    assert wins[place == 0] == 2.0
    assert wins[place == n - 1] == 0.0


def test_tied_tournaments_are_fair():
    wins = average_wins(fronts=np.zeros(10, dtype=np.intp), crowding=np.full(10, np.inf))
    np.testing.assert_allclose(wins, 1.0, atol=5 * np.sqrt(0.5 / 2000))


def test_children_of_a_pair_keep_its_mean_and_the_cube():
    rng = np.random.default_rng(7)
    mates = rng.random((5000, 4))
    mates[::7] = np.round(mates[::7])  # some on faces and corners
    children = nsga2._cross(mates, rng)
    assert children.min() >= 0.0
    assert children.max() <= 1.0
    np.testing.assert_allclose(children[0::2] + children[1::2], mates[0::2] + mates[1::2], rtol=0, atol=1e-15)


def test_crossover_leaves_equal_genes_alone():
    mates = np.repeat(np.array([[0.0, 1.0, 0.3, 5e-324]]), 200, axis=0)
    np.testing.assert_array_equal(nsga2._cross(mates, np.random.default_rng(0)), mates)


def within(share, count, probability):
    """Five standard deviations of a binomial share."""
    return abs(share - probability) < 5 * np.sqrt(probability * (1 - probability) / count)


def test_four_pairs_in_five_are_crossed_in_half_of_their_genes():
    pairs, d = 4000, 6
    mates = np.random.default_rng(1).random((2 * pairs, d))
    crossed = (nsga2._cross(mates, np.random.default_rng(2)) != mates)[0::2]
    assert within(crossed.any(axis=1).mean(), pairs, 0.8 * (1 - 0.5**d))
    active = crossed[crossed.any(axis=1)]
    assert within(active.mean(), active.size, 0.5 / (1 - 0.5**d))


def spread_law(b):
    """Deb and Agrawal's polynomial law of the spread with eta = 20: half of its mass on either side of 1."""
    return np.where(b <= 1.0, 0.5 * b**21, 1.0 - 0.5 * np.maximum(b, 1.0) ** -21)


@pytest.mark.parametrize(("x", "y"), [(0.5, 0.6), (0.001, 0.101), (0.9, 0.999), (0.0, 0.3)])
def test_the_spread_follows_its_law_cut_at_the_nearer_face(x, y):
    children = nsga2._cross(np.tile([[x], [y]], (20000, 1)), np.random.default_rng(9))[:, 0]
    spread = np.abs(children[0::2] - children[1::2]) / (y - x)
    crossed = children[0::2] != x
    furthest = min(x + y, 2.0 - x - y) / (y - x)
    assert spread[crossed].max() <= furthest + 1e-12
    assert kstest(spread[crossed], lambda b: spread_law(b) / spread_law(np.array(furthest))).pvalue > 0.01
    swapped = (children[0::2] > children[1::2])[crossed].mean()
    assert within(swapped, crossed.sum(), 0.5)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_a_gene_mutates_with_probability_one_over_d(d):
    X = np.random.default_rng(3).random((3000, d))
    changed = nsga2._mutate(X, np.random.default_rng(4)) != X
    if d == 1:
        assert changed.all()
    else:
        assert within(changed.mean(), changed.size, 1 / d)


@pytest.mark.parametrize("x", [0.5, 0.03, 0.98])
def test_mutation_follows_its_law_cut_at_the_faces(x):
    moved = nsga2._mutate(np.full((20000, 1), x), np.random.default_rng(5))[:, 0]
    up = moved > x
    assert within(up.mean(), up.size, 0.5)
    for steps, room in ((moved[up] - x, 1.0 - x), (x - moved[~up], x)):
        assert steps.max() <= room + 1e-12
        cut = 1.0 - (1.0 - room) ** 21
        assert kstest(steps, lambda s, cut=cut: (1.0 - (1.0 - s) ** 21) / cut).pvalue > 0.01


def test_mutation_cannot_push_a_point_off_a_face():
    X = np.tile([0.0, 1.0], (2000, 1))
    moved = nsga2._mutate(X, np.random.default_rng(6))
    assert moved.min() >= 0.0
    assert moved.max() <= 1.0


def test_operators_leave_their_input_alone():
    X = np.random.default_rng(0).random((20, 3))
    kept = X.copy()
    nsga2._mutate(X, np.random.default_rng(1))
    nsga2._cross(X, np.random.default_rng(1))
    np.testing.assert_array_equal(X, kept)
