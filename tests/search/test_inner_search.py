"""The batched search against separate SciPy runs, known minima and a record of everything it evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from aegisbo.gp import paths
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.paths import SamplePaths
from aegisbo.gp.posterior import GP, condition
from aegisbo.search.blocks import by_blocks
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import best_starts, polish
from aegisbo.space.cube import Continuous, Cube

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
    """A quadratic in the box, whose minimum over the cube is its center moved into the box."""

    center: np.ndarray  # (2,) in the box or outside
    weight: np.ndarray  # (2,)

    def screen(self, Z):
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z):
        offset = LOW + Z * EXTENT - self.center
        return offset**2 @ self.weight, 2.0 * offset * self.weight * EXTENT


class Branin:
    """On [-5, 10] x [0, 15], with three minima of equal depth."""

    a, b, c, r, s = 10.0, 5.1 / (4.0 * np.pi**2), 5.0 / np.pi, 6.0, 1.0 - 1.0 / (8.0 * np.pi)
    lowest = 0.39788735772973816
    minimizers = (np.array([[-np.pi, 12.275], [np.pi, 2.275], [3.0 * np.pi, 2.475]]) + np.array([5.0, 0.0])) / 15.0

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


def searched(objective, candidates, starts=10, choose=best_starts):
    """Where the search ended (k, d), and the value at the first of these."""
    chosen = choose(by_blocks(objective.screen, candidates), starts, np.random.default_rng(0))
    found = polish(objective, candidates[chosen])
    return found, objective.value_and_gradient(found[:1])[0][0]


# Polishing


@pytest.mark.parametrize("make", [mean_objective, path_objective])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_one_run_for_all_starts_is_as_good_as_a_run_for_each(make, d, seed):
    objective = make(seed, d)
    candidates = np.random.default_rng(seed).random((400 * d, d))
    values, _ = objective.value_and_gradient(candidates)
    starts = candidates[np.argsort(objective.screen(candidates))[:10]]
    found, lowest = searched(objective, candidates)
    assert lowest <= best_of_separate_runs(objective, starts) + 1e-7 * np.ptp(values)
    assert lowest <= objective.value_and_gradient(found)[0].min() + 1e-9
    assert ((found >= 0.0) & (found <= 1.0)).all()


@pytest.mark.parametrize(
    ("center", "minimizer"),
    [
        ([7.3, 2.2], [7.3, 2.2]),
        ([-4.9, 2.999], [-4.9, 2.999]),
        ([1.5, 8.0], [1.5, 3.0]),  # on a face
        ([-20.0, 2.25], [-5.0, 2.25]),
        ([11.0, 1.0], [10.0, 2.0]),  # in a corner
        ([10.0, 3.0], [10.0, 3.0]),
    ],
)
def test_known_minima_inside_on_a_face_and_in_a_corner(center, minimizer):
    objective = Bowl(np.array(center), np.array([0.2, 7.0]))
    found, lowest = searched(objective, np.random.default_rng(0).random((50, 2)))
    np.testing.assert_allclose(LOW + found[0] * EXTENT, minimizer, atol=1e-5)
    assert lowest == pytest.approx(np.dot((np.subtract(minimizer, center)) ** 2, objective.weight), abs=1e-8)


def test_all_minima_of_a_function_with_three():
    candidates = np.random.default_rng(1).random((2000, 2))
    found, lowest = searched(Branin(), candidates, starts=30)
    assert lowest == pytest.approx(Branin.lowest, abs=1e-7)
    gaps = np.linalg.norm(found[:, None, :] - Branin.minimizers, axis=2)  # (30, 3)
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
    of_each = points[values.argmin(axis=0), np.arange(k)]  # (k, 2)
    np.testing.assert_array_equal(found, of_each[np.argsort(values.min(axis=0))])
    if kind is Uphill:
        np.testing.assert_array_equal(found, starts[np.argsort(values[0])])


def test_constant_objective():
    constant = Bowl(LOW, np.zeros(2))
    candidates = np.random.default_rng(4).random((300, 2))
    found, lowest = searched(constant, candidates, starts=4)
    assert lowest == 0.0
    assert len(np.unique(found, axis=0)) == 4


# Screening


def test_every_candidate_is_screened_and_only_the_chosen_are_polished():
    recorder = Recorder(Branin())
    candidates = np.random.default_rng(5).random((2000, 2))
    asked = []

    def choose(values, count, rng):
        asked.append((values, count, rng))
        return np.array([17, 3])

    rng = np.random.default_rng(0)
    search = EverywhereSearch(lambda n, d, rng: candidates, choose, starts=2)
    search(recorder, Cube((Continuous(),) * 2), rng, np.empty((0, 2)))
    np.testing.assert_array_equal(np.concatenate(recorder.screened), candidates)
    np.testing.assert_array_equal(recorder.points[0], candidates[[17, 3]])
    [(values, count, given)] = asked
    np.testing.assert_array_equal(values, Branin().screen(candidates))
    assert count == 2
    assert given is rng


@pytest.mark.parametrize("d", [1, 2])
def test_fewer_candidates_than_starts(d):
    recorder = Recorder(mean_objective(0, d))
    candidates = np.random.default_rng(6).random((3, d))
    assert searched(recorder, candidates)[0].shape == (3, d)
    np.testing.assert_array_equal(np.unique(recorder.points[0], axis=0), np.unique(candidates, axis=0))


# Choosing starts


@pytest.mark.parametrize("count", [1, 2, 10, 2999, 3000, 3001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_best_starts_are_the_lowest(count, dtype):
    values = np.random.default_rng(7).standard_normal(3000).astype(dtype)
    chosen = best_starts(values, count, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(chosen), np.sort(np.argsort(values)[:count]))


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
    after, at_the_end = (bowl.value_and_gradient(polish(bowl, start, **some))[0] for some in ({"steps": steps}, {}))
    assert after == foreign.fun
    assert after > at_the_end
