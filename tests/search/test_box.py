"""The batched search against separate SciPy runs, known minima and a record of everything it evaluated."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.stats import chi2

from aegisbo.gp import paths
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.paths import SamplePaths
from aegisbo.gp.posterior import GP, condition
from aegisbo.search.box import best_starts, boltzmann_starts, minimise, polish, race

LOW, EXTENT = np.array([-5.0, 2.0]), np.array([15.0, 1.0])  # the box [-5, 10] x [2, 3]


@dataclass(frozen=True)
class PosteriorMean:
    gp: GP

    def screen(self, Z):
        return self.gp.mean(Z.astype(np.float32))

    def value_and_gradient(self, Z):
        return self.gp.mean_and_gradient(Z)


@dataclass(frozen=True)
class SamplePath:
    path: SamplePaths

    def screen(self, Z):
        return self.path(Z.astype(np.float32))[0]

    def value_and_gradient(self, Z):
        value, gradient = self.path.value_and_gradient(Z)
        return value[0], gradient[0]


@dataclass(frozen=True)
class Bowl:
    """A quadratic in the box, whose minimum over the cube is its centre moved into the box."""

    centre: np.ndarray  # (2,) in the box or outside
    weight: np.ndarray  # (2,)

    def screen(self, Z):
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        offset = LOW + Z * EXTENT - self.centre
        return offset**2 @ self.weight, 2.0 * offset * self.weight * EXTENT


class Branin:
    """On [-5, 10] x [0, 15], with three minima of equal depth."""

    a, b, c, r, s = 10.0, 5.1 / (4.0 * np.pi**2), 5.0 / np.pi, 6.0, 1.0 - 1.0 / (8.0 * np.pi)
    lowest = 0.39788735772973816
    minimisers = (np.array([[-np.pi, 12.275], [np.pi, 2.275], [3.0 * np.pi, 2.475]]) + np.array([5.0, 0.0])) / 15.0

    def screen(self, Z):
        return self.value_and_gradient(Z)[0].astype(np.float32)

    def value_and_gradient(self, Z):
        u, v = 15.0 * Z[:, 0] - 5.0, 15.0 * Z[:, 1]
        valley = v - self.b * u**2 + self.c * u - self.r
        value = valley**2 + self.a * self.s * np.cos(u) + self.a
        by_u = 2.0 * valley * (self.c - 2.0 * self.b * u) - self.a * self.s * np.sin(u)
        return value, 15.0 * np.column_stack([by_u, 2.0 * valley])


@dataclass
class Recorder:
    """Passes an objective on and keeps what was asked and answered."""

    objective: object
    screened: list = field(default_factory=list)
    points: list = field(default_factory=list)  # of (k, d)
    values: list = field(default_factory=list)  # of (k,)

    def screen(self, Z):
        self.screened.append(Z.copy())
        return self.objective.screen(Z)

    def value_and_gradient(self, Z):
        value, gradient = self.objective.value_and_gradient(Z)
        self.points.append(Z.copy())
        self.values.append(value.copy())
        return value, gradient


def posterior(seed, d):
    rng = np.random.default_rng([seed, d])
    X = rng.random((12 * d, d))
    y = np.sin(4.0 * X @ rng.standard_normal(d)) + 0.3 * rng.standard_normal(len(X))
    return condition(Matern52(np.array([0.15 + 0.05 * d]), 1.5), 1e-4, X, y)


def mean_objective(seed, d):
    return PosteriorMean(posterior(seed, d))


def path_objective(seed, d):
    return SamplePath(paths.draw(posterior(seed, d), np.random.default_rng(seed)))


def best_of_separate_runs(objective, starts):
    def alone(x):
        value, gradient = objective.value_and_gradient(x[None, :])
        return value[0], gradient[0]

    cube = [(0.0, 1.0)] * starts.shape[1]
    return min(scipy_minimize(alone, x, jac=True, method="L-BFGS-B", bounds=cube).fun for x in starts)


# Polishing


@pytest.mark.parametrize("make", [mean_objective, path_objective])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_one_run_for_all_starts_is_as_good_as_a_run_for_each(make, d, seed):
    objective = make(seed, d)
    candidates = np.random.default_rng(seed).random((400 * d, d))
    values, _ = objective.value_and_gradient(candidates)
    starts = candidates[np.argsort(objective.screen(candidates))[:10]]
    found = minimise(objective, candidates, np.random.default_rng(0))
    assert found.value <= best_of_separate_runs(objective, starts) + 1e-7 * np.ptp(values)
    assert found.value == pytest.approx(objective.value_and_gradient(found.x[None, :])[0][0], abs=1e-9)
    assert ((found.polished >= 0.0) & (found.polished <= 1.0)).all()


@pytest.mark.parametrize(
    ("centre", "minimiser"),
    [
        ([7.3, 2.2], [7.3, 2.2]),
        ([-4.9, 2.999], [-4.9, 2.999]),
        ([1.5, 8.0], [1.5, 3.0]),  # on a face
        ([-20.0, 2.25], [-5.0, 2.25]),
        ([11.0, 1.0], [10.0, 2.0]),  # in a corner
        ([10.0, 3.0], [10.0, 3.0]),
    ],
)
def test_known_minima_inside_on_a_face_and_in_a_corner(centre, minimiser):
    objective = Bowl(np.array(centre), np.array([0.2, 7.0]))
    found = minimise(objective, np.random.default_rng(0).random((50, 2)), np.random.default_rng(0))
    np.testing.assert_allclose(LOW + found.x * EXTENT, minimiser, atol=1e-5)
    assert found.value == pytest.approx(np.dot((np.subtract(minimiser, centre)) ** 2, objective.weight), abs=1e-8)


def test_all_minima_of_a_function_with_three():
    candidates = np.random.default_rng(1).random((2000, 2))
    found = minimise(Branin(), candidates, np.random.default_rng(0), starts=30)
    assert found.value == pytest.approx(Branin.lowest, abs=1e-7)
    gaps = np.linalg.norm(found.polished[:, None, :] - Branin.minimisers, axis=2)  # (30, 3)
    assert (gaps.min(axis=0) < 1e-3).all()


class Deceptive(Bowl):
    """Its gradient leads nowhere: the value jumps from point to point."""

    def value_and_gradient(self, Z):
        value, gradient = super().value_and_gradient(Z)
        return value + 3.0 * np.sin(1e6 * Z.sum(axis=1)), gradient


class Uphill(Bowl):
    """Its gradient has the wrong sign: no point is better than the start."""

    def value_and_gradient(self, Z):
        value, gradient = super().value_and_gradient(Z)
        return value, -gradient


@pytest.mark.parametrize("kind", [Bowl, Deceptive, Uphill])
@pytest.mark.parametrize("k", [1, 7])
def test_the_lowest_value_ever_seen_is_returned(kind, k):
    recorder = Recorder(kind(np.array([7.3, 2.2]), np.array([0.2, 7.0])))
    starts = np.random.default_rng(3).random((k, 2))
    before = starts.copy()
    found = polish(recorder, starts)
    np.testing.assert_array_equal(starts, before)
    np.testing.assert_array_equal(recorder.points[0], starts)
    points, values = np.stack(recorder.points), np.stack(recorder.values)  # (calls, k, 2), (calls, k)
    assert found.value == values.min()
    of_each = points[values.argmin(axis=0), np.arange(k)]  # (k, 2)
    np.testing.assert_array_equal(found.polished, of_each[np.argsort(values.min(axis=0))])
    np.testing.assert_array_equal(found.x, found.polished[0])
    if kind is Uphill:
        np.testing.assert_array_equal(found.polished, starts[np.argsort(values[0])])


def test_constant_objective():
    constant = Bowl(LOW, np.zeros(2))
    candidates = np.random.default_rng(4).random((300, 2))
    for choose in (best_starts, boltzmann_starts):
        found = minimise(constant, candidates, np.random.default_rng(0), starts=4, choose=choose)
        assert found.value == 0.0
        assert len(np.unique(found.polished, axis=0)) == 4


# Screening


def test_every_candidate_is_screened_and_only_the_chosen_are_polished():
    recorder = Recorder(Branin())
    candidates = np.random.default_rng(5).random((1001, 2))
    asked = []

    def choose(values, count, rng):
        asked.append((values, count, rng))
        return np.array([17, 3])

    rng = np.random.default_rng(0)
    minimise(recorder, candidates, rng, starts=2, choose=choose)
    np.testing.assert_array_equal(np.concatenate(recorder.screened), candidates)
    np.testing.assert_array_equal(recorder.points[0], candidates[[17, 3]])
    [(values, count, given)] = asked
    np.testing.assert_array_equal(values, Branin().screen(candidates))
    assert count == 2
    assert given is rng


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("choose", [best_starts, boltzmann_starts])
def test_fewer_candidates_than_starts(choose, d):
    recorder = Recorder(mean_objective(0, d))
    candidates = np.random.default_rng(6).random((3, d))
    found = minimise(recorder, candidates, np.random.default_rng(0), starts=10, choose=choose)
    assert found.polished.shape == (3, d)
    np.testing.assert_array_equal(np.unique(recorder.points[0], axis=0), np.unique(candidates, axis=0))


def test_minima_are_frozen():
    found = polish(Branin(), np.array([[0.2, 0.3]]))
    with pytest.raises(FrozenInstanceError):
        found.value = 0.0


# Choosing starts


@pytest.mark.parametrize("count", [1, 2, 10, 2999, 3000, 3001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_best_starts_are_the_lowest(count, dtype):
    values = np.random.default_rng(7).standard_normal(3000).astype(dtype)
    chosen = best_starts(values, count, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(chosen), np.sort(np.argsort(values)[:count]))


@pytest.mark.parametrize("count", [1, 2, 10, 60, 80])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boltzmann_starts_are_distinct_and_hold_the_lowest(count, dtype):
    values = (1e3 * np.random.default_rng(8).standard_normal(60) + 1e5).astype(dtype)
    for seed in range(50):
        chosen = boltzmann_starts(values, count, np.random.default_rng(seed))
        assert len(chosen) == len(set(chosen.tolist())) == min(count, 60)
        assert values.argmin() in chosen
        assert set(chosen.tolist()) <= set(range(60))


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


# A race


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
    recorder = Recorder(Branin())
    race(recorder, np.random.default_rng(0).random((8, 2)))
    sizes = [len(Z) for Z in recorder.points]
    sprint = sizes.index(2)
    assert set(sizes[:sprint]) == {8}
    assert set(sizes[sprint:]) == {2}
    assert sprint <= 2 * 12  # steps, some of which look twice


@pytest.mark.parametrize("steps", [1, 3])
def test_a_descent_can_be_cut_short(steps):
    """The same first steps as SciPy's own run of as many."""
    start = np.array([[0.93, 0.21]])
    bowl = Bowl(np.array([1.0, 2.7]), np.array([1.0, 40.0]))

    def single(z):
        value, gradient = bowl.value_and_gradient(z[None])
        return value[0], gradient[0]

    options = {"maxiter": steps}
    foreign = scipy_minimize(single, start[0], jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 2, options=options)
    found = polish(bowl, start, steps=steps)
    assert found.value == foreign.fun
    assert found.value > polish(bowl, start).value
