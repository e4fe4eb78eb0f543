"""Fits against plain L-BFGS-B from random starts, and against data that no optimizer likes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.gaussian_process.kernels import Matern

from aegisbo.gp.isotropic_fit import climb, fit, hills, spread_starts
from aegisbo.gp.isotropic_model import IsotropicLikelihood, IsotropicModel
from aegisbo.gp.output_transform import scale_of
from aegisbo.search.descent import descend


def model_in(d, noise=1e-4):
    """As in the paper, unless told otherwise."""
    return IsotropicModel((1e-4, np.sqrt(d)), (1e-4, 10.0), noise)


def standardized(y):
    return scale_of(y).standardized(y)


FUNCTIONS = {
    "bowl": lambda X: ((X - 0.3) ** 2).sum(axis=1),
    "waves": lambda X: np.sin(5.0 * X.sum(axis=1)) + X[:, 0] ** 2,
    "cliff": lambda X: np.exp(6.0 * X[:, 0]),
}


def data(function, n, d):
    X = np.random.default_rng([n, d]).random((n, d))
    return X, standardized(FUNCTIONS[function](X))


each_problem = pytest.mark.parametrize(
    ("function", "n", "d"),
    [("bowl", 8, 2), ("waves", 12, 1), ("waves", 25, 3), ("cliff", 15, 2), ("cliff", 6, 4)],
)


def gp_draw(n, lengthscale, noise, rng):
    """Inputs (n, 2) and one sample (n,) of a GP with this length scale and output scale 1."""
    X = rng.random((n, 2))
    K = Matern(lengthscale, nu=2.5)(X) + noise * np.eye(n)
    return X, np.linalg.cholesky(K) @ rng.standard_normal(n)


def plain_fit(likelihood, bounds, rng):
    """The highest of ten runs of SciPy's optimizer from anywhere in the box."""

    def descent(phi):
        value, gradient = likelihood.value_and_gradient(phi)
        return -value, -gradient

    starts = bounds[:, 0] + rng.random((10, len(bounds))) * np.ptp(bounds, axis=1)
    return max(-minimize(descent, phi, jac=True, method="L-BFGS-B", bounds=bounds).fun for phi in starts)


@pytest.mark.long
@each_problem
def test_no_plain_optimizer_finds_better_hyper_parameters(function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    found = fit(X, y, model, np.random.default_rng(0))
    best = plain_fit(IsotropicLikelihood(X, y, model), model.bounds, np.random.default_rng(1))
    assert found.log_likelihood >= best - 1e-6 * n


def noisy_waves(n, d, noise, seed):
    X = np.random.default_rng([n, d]).random((n, d))
    return X, standardized(np.sin(5.0 * X.sum(axis=1)) + noise * np.random.default_rng(seed).standard_normal(n))


@pytest.mark.parametrize(
    ("n", "d", "seed", "seed_of_starts"),
    [
        (15, 1, 1, 0),  # on which longer steps end on the plateau
        (8, 3, 54, 6),  # on which starts on the plateau hide the hill
    ],
)
def test_of_several_hills_the_highest_is_found(n, d, seed, seed_of_starts):
    X, y = noisy_waves(n, d, 0.3, seed)
    model = model_in(d)
    found = fit(X, y, model, np.random.default_rng(seed_of_starts))
    best = plain_fit(IsotropicLikelihood(X, y, model), model.bounds, np.random.default_rng(1))
    assert found.log_likelihood >= best - 1e-4 * n


@pytest.mark.parametrize("seed", [8, 9, 16, 24, 27])
def test_no_fit_is_worse_than_calling_everything_noise(seed):
    n, d = 30, 4
    X, y = noisy_waves(n, d, 30.0, seed)
    independent = norm(0.0, np.sqrt(y @ y / n)).logpdf(y).sum()
    found = fit(X, y, model_in(d), np.random.default_rng(0))
    assert found.log_likelihood >= independent - 1e-9 * n


def test_the_plateau_wins_only_if_it_is_really_the_highest():
    X, y = noisy_waves(10, 2, 3.0, 16)  # next to nothing but noise, and more of it than what is known to be there
    model = model_in(2, noise=0.3)
    found = fit(X, y, model, np.random.default_rng(0))
    best = plain_fit(IsotropicLikelihood(X, y, model), model.bounds, np.random.default_rng(1))
    assert found.log_likelihood >= best - 1e-5 * 10


@each_problem
def test_result_is_within_bounds_and_no_worse_than_any_start(function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    likelihood, bounds = IsotropicLikelihood(X, y, model), model.bounds
    for seed in range(2):
        found = fit(X, y, model, np.random.default_rng(seed))
        assert (bounds[:, 0] <= found.phi).all()
        assert (found.phi <= bounds[:, 1]).all()
        assert found.log_likelihood == pytest.approx(likelihood.value(found.phi), rel=1e-13)
        assert found.notes == ()
        starts = spread_starts(model, np.random.default_rng(seed))
        rescaled = [likelihood.rescaled(phi)[1] for phi in starts]
        assert found.log_likelihood >= max(likelihood.value(phi) for phi in [*starts, *rescaled])


@each_problem
def test_result_is_no_worse_than_the_warm_start(function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    likelihood, bounds = IsotropicLikelihood(X, y, model), model.bounds
    rng = np.random.default_rng(4)
    best = fit(X, y, model, rng).phi
    for warm in (best, *(bounds[:, 0] + rng.random((2, len(bounds))) * np.ptp(bounds, axis=1))):
        assert fit(X, y, model, rng, warm=warm).log_likelihood >= likelihood.value(warm) - 1e-9 * n


def test_a_good_warm_start_is_not_lost_to_a_start_that_only_looks_better():
    # The height of a start is an estimate, see `IsotropicLikelihood.rescaled`; that of a warm start is not.
    X, y = data("bowl", 9, 2)
    model = model_in(2, noise=0.3)
    cold = fit(X, y, model, np.random.default_rng(0))
    warm = fit(X, y, model, np.random.default_rng(2), warm=cold.phi)
    assert warm.log_likelihood >= cold.log_likelihood - 1e-9


@each_problem
def test_a_poor_warm_start_is_no_trap(function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    shortest, _ = model.bounds.T
    cold = fit(X, y, model, np.random.default_rng(0))
    warm = fit(X, y, model, np.random.default_rng(0), warm=shortest)
    assert warm.log_likelihood >= cold.log_likelihood - 1e-4 * n


def test_a_warm_start_outside_the_bounds_is_moved_inside():
    X, y = data("bowl", 8, 2)
    beyond = fit(X, y, model_in(2), np.random.default_rng(0)).phi
    narrow = IsotropicModel((1e-4, 0.5), (1e-4, 2.0), 1e-4)
    bounds = narrow.bounds
    assert (beyond > bounds[:, 1]).all()
    found = fit(X, y, narrow, np.random.default_rng(0), warm=beyond)
    assert ((bounds[:, 0] <= found.phi) & (found.phi <= bounds[:, 1])).all()


@pytest.mark.long
@pytest.mark.parametrize("noise", [1e-4, 0.02])
def test_known_hyper_parameters_are_recovered(noise):
    X, y = gp_draw(150, 0.25, noise, np.random.default_rng(3))
    gp = fit(X, y, model_in(2, noise), np.random.default_rng(0)).gp
    assert abs(np.log(gp.kernel.lengthscale[0] / 0.25)) < np.log(1.5)
    assert abs(np.log(gp.kernel.outputscale)) < np.log(2.5)
    assert gp.noise == noise


@pytest.mark.long
def test_climbing_ends_on_level_ground():
    X, y = data("waves", 25, 3)
    model = model_in(3)
    likelihood, bounds = IsotropicLikelihood(X, y, model), model.bounds
    for start in spread_starts(model, np.random.default_rng(0)):
        value, phi = climb(likelihood, start, bounds)
        top, gradient = likelihood.value_and_gradient(phi)
        assert value == pytest.approx(top, rel=1e-12)
        assert value >= likelihood.value(start)
        free = np.clip(phi + gradient / len(y), bounds[:, 0], bounds[:, 1]) - phi
        assert np.abs(free).max() < 1e-3


class Counting(IsotropicLikelihood):
    evaluations = 0

    def value_and_gradient(self, phi):
        self.evaluations += 1
        return super().value_and_gradient(phi)


def test_a_climb_ends_at_a_top_that_is_known_unless_it_gets_higher():
    X, y = data("waves", 25, 3)
    model = model_in(3)
    likelihood, bounds = IsotropicLikelihood(X, y, model), model.bounds
    start = likelihood.rescaled(spread_starts(model, np.random.default_rng(0))[0])[1]
    value, phi = climb(likelihood, start, bounds)
    shorter, longer = Counting(X, y, model), Counting(X, y, model)
    assert climb(shorter, start, bounds, [(value, phi)])[1] is phi
    climb(longer, start, bounds)
    assert 0 < shorter.evaluations < longer.evaluations
    beneath = (value - 1.0, phi + 0.01)
    assert climb(likelihood, start, bounds, [beneath])[0] == pytest.approx(value, abs=1e-4 * len(y))
    elsewhere = (np.inf, phi + 100.0)
    assert climb(likelihood, start, bounds, [elsewhere])[0] == value


def test_the_optimizer_is_handed_a_function_and_its_own_gradient(monkeypatch):
    X, y = data("waves", 12, 2)
    model, h = model_in(2), 1e-5

    def checked(descent, phi, window, **settings):
        differences = [(descent(phi + step)[0] - descent(phi - step)[0]) / (2.0 * h) for step in h * np.eye(len(phi))]
        np.testing.assert_allclose(descent(phi)[1], differences, rtol=1e-5, atol=1e-6)
        return descend(descent, phi, window, **settings)

    monkeypatch.setattr("aegisbo.gp.isotropic_fit.descend", checked)
    climb(IsotropicLikelihood(X, y, model), spread_starts(model, np.random.default_rng(0))[0], model.bounds)


def test_starts_fill_the_box():
    model = model_in(3)
    starts = spread_starts(model, np.random.default_rng(0))
    assert starts.shape == (10, 2)  # ten, as in the paper
    low, high = np.exp(model.bounds).T
    slices = np.floor(10.0 * (np.exp(starts) - low) / (high - low))
    for column in slices.T:
        np.testing.assert_array_equal(np.sort(column), np.arange(10))


ROBUST = {
    "one datum": lambda rng: (rng.random((1, 2)), np.array([3.0]), "1 equal outputs"),
    "two data": lambda rng: (rng.random((2, 2)), np.array([3.0, -1.0]), None),
    "constant": lambda rng: (rng.random((9, 2)), np.full(9, 1e5), "9 equal outputs"),
    "ten copies": lambda rng: (np.repeat(rng.random((3, 2)), 10, axis=0), rng.standard_normal(30), None),
    "one place": lambda rng: (np.full((10, 2), 0.3), rng.standard_normal(10), None),
    "tiny": lambda rng: (rng.random((15, 2)), 1e-12 * rng.standard_normal(15), None),
    "huge": lambda rng: (rng.random((15, 2)), 1e12 * rng.standard_normal(15), None),
    "outlier": lambda rng: (rng.random((15, 2)), np.append(rng.standard_normal(14), 1e12), None),
    "on a line": lambda rng: (rng.random((12, 1)) * [1.0, 0.5, -1.0] + [0.0, 0.2, 1.0], rng.standard_normal(12), None),
    "many coordinates": lambda rng: (rng.random((3, 20)), rng.standard_normal(3), None),
}


@pytest.mark.parametrize("case", ROBUST.values(), ids=ROBUST)
def test_whatever_the_data_there_is_a_posterior(case):
    rng = np.random.default_rng(8)
    X, raw, note = case(rng)
    d = X.shape[1]
    y, bounds = standardized(raw), model_in(d).bounds
    found = fit(X, y, model_in(d), rng)
    mean, variance = found.gp.predict(np.vstack([rng.random((50, d)), X]))
    assert np.isfinite(mean).all()
    assert np.isfinite(variance).all()
    assert (variance >= 0.0).all()
    assert (np.abs(mean) <= 10.0 * max(np.abs(y).max(), 1.0)).all()
    assert np.isfinite(found.log_likelihood)
    assert ((bounds[:, 0] <= found.phi) & (found.phi <= bounds[:, 1])).all()
    assert len(found.notes) == (note is not None)
    assert all(said.startswith(note) for said in found.notes)


def test_where_nothing_can_be_factored_the_notes_say_so():
    X, y = np.full((4, 2), 0.5), standardized(np.array([1.0, 2.0, 4.0, 8.0]))
    model = IsotropicModel((0.1, 1.0), (1e-3, 10.0), 1e-20)  # lost beside the scale: pivots are exactly zero
    found = fit(X, y, model, np.random.default_rng(0))
    assert [note.split()[0] for note in found.notes] == ["no", "jitter"]
    assert found.gp.factor.jitter > 0.0
    assert np.isfinite(found.gp.predict(np.random.default_rng(1).random((9, 2)))).all()


@pytest.mark.parametrize("longest", [1.4, 0.3])
def test_without_a_lesson_the_length_scale_is_the_typical_distance_in_the_cube(longest):
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 20_000, 3))
    typical = min(np.sqrt(((A - B) ** 2).sum(axis=1).mean()), longest)
    gp = fit(rng.random((6, 3)), np.zeros(6), IsotropicModel((1e-3, longest), (1e-3, 10.0), 1e-4), rng).gp
    np.testing.assert_allclose(gp.kernel.lengthscale, [typical], rtol=0.02)
    assert gp.kernel.outputscale == 1.0


def test_equal_generators_give_equal_fits():
    X, y = data("waves", 12, 2)
    first, second = (fit(X, y, model_in(2), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first.phi, second.phi)
    np.testing.assert_array_equal(first.gp.alpha, second.gp.alpha)


def test_posterior_at_a_known_phi_is_that_of_the_fit():
    X, y = data("cliff", 15, 2)
    found = fit(X, y, model_in(2), np.random.default_rng(7))
    again = model_in(2).posterior(X, y, found.phi)
    Z = np.random.default_rng(1).random((9, 2))
    np.testing.assert_array_equal(again.predict(Z), found.gp.predict(Z))


@pytest.mark.parametrize(("factor", "shift"), [(1024.0, 0.0), (1e-12, 0.0), (1e12, 3e12), (1.0, -100.0)])
def test_unit_and_origin_of_the_outputs_do_not_matter(factor, shift):
    X = np.random.default_rng(2).random((15, 2))
    raw = FUNCTIONS["waves"](X)
    plain, moved = (fit(X, standardized(y), model_in(2), np.random.default_rng(0)) for y in (raw, factor * raw + shift))
    np.testing.assert_allclose(moved.phi, plain.phi, atol=1e-2)  # of logarithms
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-4)


def hills_by_definition(positions, heights):
    order = sorted(range(len(positions)), key=lambda i: (positions[i], i))
    tops = []
    for place, i in enumerate(order):
        neighbors = [order[at] for at in (place - 1, place + 1) if 0 <= at < len(order)]
        if all(heights[i] >= heights[j] for j in neighbors):
            tops.append(i)
    return sorted(tops, key=lambda i: -heights[i])


FEW = st.integers(-3, 3).map(float)  # ties


@given(st.lists(st.tuples(FEW | st.floats(-9.0, 9.0), FEW | st.just(-np.inf)), max_size=25))
def test_hills_are_their_definition(points):
    positions, heights = np.array(points).reshape(-1, 2).T
    assert hills(positions, heights).tolist() == hills_by_definition(positions, heights)
