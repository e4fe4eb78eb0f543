"""Fits against plain L-BFGS-B from random starts, and against data that no optimiser likes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.gaussian_process.kernels import Matern

from aegisbo.gp.likelihood import FixedNoise, LearnedNoise, Likelihood, Model
from aegisbo.gp.maximum_likelihood import climb, fit, hills, posterior, spread_starts
from aegisbo.gp.outputs import standardise
from aegisbo.search.descent import descend


def fixed_model(d, ard=False):
    """As in the paper."""
    return Model((1e-4, np.sqrt(d)), (1e-4, 10.0), FixedNoise(1e-4), ard=ard)


def learned_model(d, ard=False):
    return Model((0.01, 2.0 * np.sqrt(d)), (1e-3, 100.0), LearnedNoise((1e-6, 10.0)), ard=ard)


MODELS = {
    "fixed": fixed_model,
    "fixed, ARD": lambda d: fixed_model(d, ard=True),
    "learned": learned_model,
    "learned, ARD": lambda d: learned_model(d, ard=True),
}
each_model = pytest.mark.parametrize("model_in", MODELS.values(), ids=MODELS)

FUNCTIONS = {
    "bowl": lambda X: ((X - 0.3) ** 2).sum(axis=1),
    "waves": lambda X: np.sin(5.0 * X.sum(axis=1)) + X[:, 0] ** 2,
    "cliff": lambda X: np.exp(6.0 * X[:, 0]),
}


def data(function, n, d):
    X = np.random.default_rng([n, d]).random((n, d))
    return X, standardise(FUNCTIONS[function](X))


each_problem = pytest.mark.parametrize(
    ("function", "n", "d"),
    [("bowl", 8, 2), ("waves", 12, 1), ("waves", 25, 3), ("cliff", 15, 2), ("cliff", 6, 4)],
)


def gp_draw(n, lengthscale, noise, rng):
    """Inputs (n, d) and one sample (n,) of a GP with these length scales and output scale 1."""
    X = rng.random((n, len(lengthscale)))
    K = Matern(lengthscale, nu=2.5)(X) + noise * np.eye(n)
    return X, np.linalg.cholesky(K) @ rng.standard_normal(n)


def plain_fit(likelihood, bounds, rng):
    """The highest of ten runs of SciPy's optimiser from anywhere in the box."""

    def descent(phi):
        value, gradient = likelihood.value_and_gradient(phi)
        return -value, -gradient

    starts = bounds[:, 0] + rng.random((10, len(bounds))) * np.ptp(bounds, axis=1)
    return max(-minimize(descent, phi, jac=True, method="L-BFGS-B", bounds=bounds).fun for phi in starts)


@each_problem
@each_model
def test_no_plain_optimiser_finds_better_hyper_parameters(model_in, function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    found = fit(X, y, model, np.random.default_rng(0))
    best = plain_fit(Likelihood(X, y, model), model.bounds(d), np.random.default_rng(1))
    # With learned noise the top is a long ridge that is all but level.
    tolerance = 1e-6 if isinstance(model.noise, FixedNoise) else 1e-4
    assert found.log_likelihood >= best - tolerance * n


def noisy_waves(n, d, noise, seed):
    X = np.random.default_rng([n, d]).random((n, d))
    return X, standardise(np.sin(5.0 * X.sum(axis=1)) + noise * np.random.default_rng(seed).standard_normal(n))


@pytest.mark.parametrize(
    ("model_in", "n", "d", "seed", "seed_of_starts"),
    [
        ("fixed", 15, 1, 1, 0),  # on which longer steps end on the plateau
        ("fixed", 8, 3, 54, 6),  # on which starts on the plateau hide the hill
        ("fixed, ARD", 15, 3, 33, 0),
        ("learned", 15, 3, 9, 0),
        ("learned, ARD", 30, 3, 23, 0),  # on which the highest start is on the wrong hill
    ],
)
def test_of_several_hills_the_highest_is_found(model_in, n, d, seed, seed_of_starts):
    X, y = noisy_waves(n, d, 0.3, seed)
    model = MODELS[model_in](d)
    found = fit(X, y, model, np.random.default_rng(seed_of_starts))
    best = plain_fit(Likelihood(X, y, model), model.bounds(d), np.random.default_rng(1))
    assert found.log_likelihood >= best - 1e-4 * n


@pytest.mark.parametrize("seed", [8, 9, 16, 24, 27])
def test_no_fit_is_worse_than_calling_everything_noise(seed):
    n, d = 30, 4
    X, y = noisy_waves(n, d, 30.0, seed)
    independent = norm(0.0, np.sqrt(y @ y / n)).logpdf(y).sum()
    found = fit(X, y, fixed_model(d), np.random.default_rng(0))
    assert found.log_likelihood >= independent - 1e-9 * n


def test_the_plateau_wins_only_if_it_is_really_the_highest():
    X, y = noisy_waves(10, 2, 3.0, 16)  # next to nothing but noise, and more of it than what is known to be there
    model = Model((1e-4, np.sqrt(2.0)), (1e-4, 10.0), FixedNoise(0.3))
    found = fit(X, y, model, np.random.default_rng(0))
    best = plain_fit(Likelihood(X, y, model), model.bounds(2), np.random.default_rng(1))
    assert found.log_likelihood >= best - 1e-5 * 10


@each_problem
@each_model
def test_result_is_within_bounds_and_no_worse_than_any_start(model_in, function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    likelihood, bounds = Likelihood(X, y, model), model.bounds(d)
    for seed in range(2):
        found = fit(X, y, model, np.random.default_rng(seed))
        assert (bounds[:, 0] <= found.phi).all()
        assert (found.phi <= bounds[:, 1]).all()
        assert found.log_likelihood == pytest.approx(likelihood.value(found.phi), rel=1e-13)
        assert found.notes == ()
        starts = spread_starts(model, d, np.random.default_rng(seed))
        rescaled = [likelihood.rescaled(phi)[1] for phi in starts]
        assert found.log_likelihood >= max(likelihood.value(phi) for phi in [*starts, *rescaled])


@each_problem
@each_model
def test_result_is_no_worse_than_the_warm_start(model_in, function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    likelihood, bounds = Likelihood(X, y, model), model.bounds(d)
    rng = np.random.default_rng(4)
    best = fit(X, y, model, rng).phi
    for warm in (best, *(bounds[:, 0] + rng.random((2, len(bounds))) * np.ptp(bounds, axis=1))):
        assert fit(X, y, model, rng, warm=warm).log_likelihood >= likelihood.value(warm) - 1e-9 * n


def test_a_good_warm_start_is_not_lost_to_a_start_that_only_looks_better():
    # With fixed noise the height of a start is an estimate, see `Likelihood.rescaled`; that of a warm start is not.
    X, y = data("bowl", 9, 2)
    model = Model((1e-4, np.sqrt(2.0)), (1e-4, 10.0), FixedNoise(0.3), ard=True)
    cold = fit(X, y, model, np.random.default_rng(0))
    warm = fit(X, y, model, np.random.default_rng(2), warm=cold.phi)
    assert warm.log_likelihood >= cold.log_likelihood - 1e-9


@each_problem
@each_model
def test_a_poor_warm_start_is_no_trap(model_in, function, n, d):
    X, y = data(function, n, d)
    model = model_in(d)
    shortest, _ = model.bounds(d).T
    cold = fit(X, y, model, np.random.default_rng(0))
    warm = fit(X, y, model, np.random.default_rng(0), warm=shortest)
    assert warm.log_likelihood >= cold.log_likelihood - 1e-4 * n


@pytest.mark.parametrize("ard", [False, True], ids=["isotropic", "ARD"])
def test_warm_starts_save_evaluations_where_the_noise_is_learned(ard):
    cold, warm = 0, 0
    for function, n, d in (("bowl", 10, 2), ("waves", 20, 1), ("waves", 30, 2), ("cliff", 15, 3)):
        X, y = data(function, n, d)
        model = learned_model(d, ard)
        before = fit(X[:-1], y[:-1], model, np.random.default_rng(0))
        cold += fit(X, y, model, np.random.default_rng(1)).evaluations
        warm += fit(X, y, model, np.random.default_rng(1), warm=before.phi).evaluations
    assert warm < cold


def test_a_warm_start_outside_the_bounds_is_moved_inside():
    X, y = data("bowl", 8, 2)
    beyond = fit(X, y, fixed_model(2), np.random.default_rng(0)).phi
    narrow = Model((1e-4, 0.5), (1e-4, 2.0), FixedNoise(1e-4))
    bounds = narrow.bounds(2)
    assert (beyond > bounds[:, 1]).all()
    found = fit(X, y, narrow, np.random.default_rng(0), warm=beyond)
    assert ((bounds[:, 0] <= found.phi) & (found.phi <= bounds[:, 1])).all()


@pytest.mark.parametrize("lengthscale", [(0.25, 0.25), (0.15, 0.6)], ids=["isotropic", "ARD"])
@pytest.mark.parametrize(("model", "noise"), [(fixed_model, 1e-4), (learned_model, 0.02)], ids=["fixed", "learned"])
def test_known_hyper_parameters_are_recovered(model, noise, lengthscale):
    X, y = gp_draw(150, lengthscale, noise, np.random.default_rng(3))
    ard = len(set(lengthscale)) > 1
    gp = fit(X, y, model(2, ard=ard), np.random.default_rng(0)).gp
    assert np.abs(np.log(gp.kernel.lengthscale / lengthscale)).max() < np.log(1.5)
    assert abs(np.log(gp.kernel.outputscale)) < np.log(2.5)
    assert abs(np.log(gp.noise / noise)) < np.log(1.5)


@each_model
def test_climbing_ends_on_level_ground(model_in):
    X, y = data("waves", 25, 3)
    model = model_in(3)
    likelihood, bounds = Likelihood(X, y, model), model.bounds(3)
    for start in spread_starts(model, 3, np.random.default_rng(0)):
        value, phi = climb(likelihood, start, bounds)
        top, gradient = likelihood.value_and_gradient(phi)
        assert value == pytest.approx(top, rel=1e-12)
        assert value >= likelihood.value(start)
        free = np.clip(phi + gradient / len(y), bounds[:, 0], bounds[:, 1]) - phi
        assert np.abs(free).max() < 1e-3


@each_model
def test_a_climb_ends_at_a_top_that_is_known_unless_it_gets_higher(model_in):
    X, y = data("waves", 25, 3)
    model = model_in(3)
    likelihood, bounds = Likelihood(X, y, model), model.bounds(3)
    start = likelihood.rescaled(spread_starts(model, 3, np.random.default_rng(0))[0])[1]
    value, phi = climb(likelihood, start, bounds)
    before = likelihood.evaluations
    assert climb(likelihood, start, bounds, [(value, phi)])[1] is phi
    on_the_way = likelihood.evaluations - before
    climb(likelihood, start, bounds)
    assert on_the_way < likelihood.evaluations - before - on_the_way
    beneath = (value - 1.0, phi + 0.01)
    assert climb(likelihood, start, bounds, [beneath])[0] == pytest.approx(value, abs=1e-4 * len(y))
    elsewhere = (np.inf, phi + 100.0)
    assert climb(likelihood, start, bounds, [elsewhere])[0] == value


@each_model
def test_the_optimiser_is_handed_a_function_and_its_own_gradient(model_in, monkeypatch):
    X, y = data("waves", 12, 2)
    model, h = model_in(2), 1e-5

    def checked(descent, phi, window, **settings):
        differences = [(descent(phi + step)[0] - descent(phi - step)[0]) / (2.0 * h) for step in h * np.eye(len(phi))]
        np.testing.assert_allclose(descent(phi)[1], differences, rtol=1e-5, atol=1e-6)
        return descend(descent, phi, window, **settings)

    monkeypatch.setattr("aegisbo.gp.maximum_likelihood.descend", checked)
    climb(Likelihood(X, y, model), spread_starts(model, 2, np.random.default_rng(0))[0], model.bounds(2))


@each_model
def test_starts_fill_the_box_and_are_alike_in_all_length_scales(model_in):
    model = model_in(3)
    starts, bounds = spread_starts(model, 3, np.random.default_rng(0)), model.bounds(3)
    assert starts.shape == (10, 4 if model.ard else 2)  # ten, as in the paper
    assert (starts[:, :-1] == starts[:, :1]).all()
    low, high = np.exp(bounds[0])
    slices = np.floor(10.0 * (np.exp(starts[:, 0]) - low) / (high - low))
    np.testing.assert_array_equal(np.sort(slices), np.arange(10))
    last, (low, high) = starts[:, -1], bounds[-1]
    if isinstance(model.noise, FixedNoise):
        last, low, high = np.exp(last), np.exp(low), np.exp(high)
    np.testing.assert_array_equal(np.sort(np.floor(10.0 * (last - low) / (high - low))), np.arange(10))


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
@each_model
def test_whatever_the_data_there_is_a_posterior(model_in, case):
    rng = np.random.default_rng(8)
    X, raw, note = case(rng)
    d = X.shape[1]
    y, bounds = standardise(raw), model_in(d).bounds(d)
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
    X, y = np.full((4, 2), 0.5), standardise(np.array([1.0, 2.0, 4.0, 8.0]))
    model = Model((0.1, 1.0), (1e-3, 10.0), LearnedNoise((1e-20, 1e-18)))  # lost beside 1: pivots are exactly zero
    found = fit(X, y, model, np.random.default_rng(0))
    assert [note.split()[0] for note in found.notes] == ["no", "jitter"]
    assert found.gp.jitter > 0.0
    assert np.isfinite(found.gp.predict(np.random.default_rng(1).random((9, 2)))).all()


@pytest.mark.parametrize("longest", [1.4, 0.3])
@pytest.mark.parametrize("ard", [False, True])
def test_without_a_lesson_length_scales_are_the_typical_distance_in_the_cube(ard, longest):
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 20_000, 3))
    typical = min(np.sqrt(((A - B) ** 2).sum(axis=1).mean()), longest)
    for noise in (FixedNoise(1e-4), LearnedNoise((1e-5, 1.0))):
        model = Model((1e-3, longest), (1e-3, 10.0), noise, ard=ard)
        gp = fit(rng.random((6, 3)), np.zeros(6), model, rng).gp
        np.testing.assert_allclose(gp.kernel.lengthscale, np.full(3 if ard else 1, typical), rtol=0.02)
        if isinstance(noise, FixedNoise):
            assert gp.kernel.outputscale == 1.0
        else:
            assert gp.noise / gp.kernel.outputscale == pytest.approx(1e-5)


@each_model
def test_equal_generators_give_equal_fits(model_in):
    X, y = data("waves", 12, 2)
    first, second = (fit(X, y, model_in(2), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first.phi, second.phi)
    np.testing.assert_array_equal(first.gp.alpha, second.gp.alpha)
    assert first.evaluations == second.evaluations


@each_model
def test_posterior_at_a_known_phi_is_that_of_the_fit(model_in):
    X, y = data("cliff", 15, 2)
    found = fit(X, y, model_in(2), np.random.default_rng(7))
    again = posterior(X, y, model_in(2), found.phi)
    Z = np.random.default_rng(1).random((9, 2))
    np.testing.assert_array_equal(again.predict(Z), found.gp.predict(Z))
    theta = Likelihood(X, y, model_in(2)).theta(found.phi)
    np.testing.assert_array_equal(again.kernel.lengthscale, theta.lengthscale)
    assert (again.kernel.outputscale, again.noise) == (theta.outputscale, theta.noise)


@each_model
@pytest.mark.parametrize(("factor", "shift"), [(1024.0, 0.0), (1e-12, 0.0), (1e12, 3e12), (1.0, -100.0)])
def test_unit_and_origin_of_the_outputs_do_not_matter(model_in, factor, shift):
    X = np.random.default_rng(2).random((15, 2))
    raw = FUNCTIONS["waves"](X)
    plain, moved = (fit(X, standardise(y), model_in(2), np.random.default_rng(0)) for y in (raw, factor * raw + shift))
    np.testing.assert_allclose(moved.phi, plain.phi, atol=1e-2)  # of logarithms
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-4)


def hills_by_definition(positions, heights):
    order = sorted(range(len(positions)), key=lambda i: (positions[i], i))
    tops = []
    for place, i in enumerate(order):
        neighbours = [order[at] for at in (place - 1, place + 1) if 0 <= at < len(order)]
        if all(heights[i] >= heights[j] for j in neighbours):
            tops.append(i)
    return sorted(tops, key=lambda i: -heights[i])


FEW = st.integers(-3, 3).map(float)  # ties


@given(st.lists(st.tuples(FEW | st.floats(-9.0, 9.0), FEW | st.just(-np.inf)), max_size=25))
def test_hills_are_their_definition(points):
    positions, heights = np.array(points).reshape(-1, 2).T
    assert hills(positions, heights).tolist() == hills_by_definition(positions, heights)
