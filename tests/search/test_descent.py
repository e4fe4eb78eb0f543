"""Runs against SciPy's public ones, to the last bit and point by point."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.optimize import minimize

from aegisbo.search import descent
from aegisbo.search.descent import descend, descend_each

LOPSIDED = np.array([[-5.0, 10.0], [2.0, 3.0]])


def valley(x):
    """Rosenbrock's, whose lowest point (1, 1) lies outside of the lopsided box."""
    a, b = x
    value = 100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2
    return value, np.array([-400.0 * a * (b - a**2) - 2.0 * (1.0 - a), 200.0 * (b - a**2)])


def quartics(x):
    """Many coordinates of very different curvature; some of their minima lie outside of the unit cube."""
    e = x - np.linspace(-0.2, 1.2, len(x))
    curvature = np.geomspace(1.0, 200.0, len(x))
    return float(e @ (curvature * e) + (e**4).sum()), 2.0 * curvature * e + 4.0 * e**3


def cliff(x):
    """A bowl with no value at all where the first steps lead."""
    return (float(x @ x), 2.0 * x) if x[0] > -2.0 else (np.inf, np.zeros(len(x)))


CASES = {
    "valley": (valley, np.array([-4.0, 2.9]), LOPSIDED),
    "outside": (valley, np.array([-40.0, 7.0]), LOPSIDED),
    "quartics": (quartics, np.random.default_rng(0).random(100), np.tile([0.0, 1.0], (100, 1))),
    "one": (quartics, np.array([0.9]), np.array([[0.1, 0.95]])),
    "cliff": (cliff, np.array([9.0, 2.5]), LOPSIDED),
    "minimum": (quartics, np.array([-0.2]), np.array([[-0.5, 0.5]])),
}
each_case = pytest.mark.parametrize(("function", "start", "box"), CASES.values(), ids=CASES)
each_way = pytest.mark.parametrize("known", [True, False], ids=["answering", "by SciPy"])


@pytest.fixture
def way(known, monkeypatch):
    if known and not descent.ROUTINE_IS_KNOWN:
        pytest.skip("the routine of this SciPy is not known")
    monkeypatch.setattr(descent, "ROUTINE_IS_KNOWN", known)


def recorded(function):
    seen = []

    def recording(x):
        seen.append(x.copy())
        return function(x)

    return recording, seen


@each_way
@each_case
@pytest.mark.parametrize(
    ("flat", "steps"), [(descent.LEAST_DECREASE, 15_000), (1e-9, 15_000), (1e-3, 15_000), (1e-9, 1), (1e-9, 4)]
)
@pytest.mark.usefixtures("way")
def test_a_run_is_scipys_run(function, start, box, flat, steps):
    ours, our_points = recorded(function)
    theirs, their_points = recorded(function)
    found = descend(ours, start, box, flat=flat, steps=steps)
    options = {"ftol": flat, "maxiter": steps}
    expected = minimize(theirs, start, jac=True, method="L-BFGS-B", bounds=box, options=options)
    np.testing.assert_array_equal(our_points, their_points)
    np.testing.assert_array_equal(found.x, expected.x)
    assert found.value == expected.fun
    np.testing.assert_array_equal(found.gradient, expected.jac)


@each_way
@pytest.mark.usefixtures("way")
def test_the_lowest_point_of_the_box_is_found():
    found = descend(valley, np.array([-4.0, 2.9]), LOPSIDED)
    # On the lower face, b = 2, the slope in a vanishes at the roots of 400 a³ - 798 a - 2; the largest is the lowest.
    a = np.roots([400.0, 0.0, -798.0, -2.0]).max()
    np.testing.assert_allclose(found.x, [a, 2.0], atol=1e-6)
    assert found.value == valley(found.x)[0]
    np.testing.assert_array_equal(found.gradient, valley(found.x)[1])


@each_way
@pytest.mark.usefixtures("way")
def test_flatter_takes_longer_and_gets_lower():
    values, counts = [], []
    for flat in (1e-1, 1e-4, 1e-12):
        function, seen = recorded(quartics)
        values.append(descend(function, np.full(50, 0.5), np.tile([0.0, 1.0], (50, 1)), flat=flat).value)
        counts.append(len(seen))
    assert values[0] > values[1] > values[2]
    assert counts[0] < counts[1] < counts[2]


@each_way
@pytest.mark.usefixtures("way")
def test_a_function_may_overwrite_the_point_it_is_given():
    def careless(x):
        value, gradient = valley(x)
        x[:] = np.nan
        return value, gradient

    start = np.array([-4.0, 2.9])
    np.testing.assert_array_equal(descend(careless, start, LOPSIDED).x, descend(valley, start, LOPSIDED).x)
    np.testing.assert_array_equal(start, [-4.0, 2.9])


@each_way
@pytest.mark.usefixtures("way")
def test_what_the_function_raises_ends_the_run():
    def failing(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        descend(failing, np.array([0.0, 2.5]), LOPSIDED)


@each_way
@each_case
@pytest.mark.parametrize("evaluations", [1, 5, 9])
@pytest.mark.usefixtures("way")
def test_a_run_with_few_evaluations_is_scipys_run(function, start, box, evaluations):
    ours, our_points = recorded(function)
    theirs, their_points = recorded(function)
    found = descend(ours, start, box, evaluations=evaluations)
    options = {"ftol": descent.LEAST_DECREASE, "maxfun": evaluations}
    expected = minimize(theirs, start, jac=True, method="L-BFGS-B", bounds=box, options=options)
    np.testing.assert_array_equal(our_points, their_points)
    np.testing.assert_array_equal(found.x, expected.x)
    assert found.value == expected.fun


@each_way
@pytest.mark.usefixtures("way")
def test_runs_evaluated_together_are_each_scipys_run():
    starts = np.array([[-4.0, 2.9], [1.0, 1.0], [0.3, 2.1], [1.4, 0.4], [9.0, 2.5]])  # the second is the minimum
    boxes = np.array([LOPSIDED, [[0.0, 2.0], [0.0, 2.0]], LOPSIDED, [[-2.0, 2.0], [0.4, 0.4]], LOPSIDED])
    asked = []

    def together(X):
        asked.append(len(X))
        values, gradients = zip(*map(valley, X), strict=True)
        return np.array(values), np.array(gradients)

    bottoms = descend_each(together, starts, boxes)
    counts = []
    for start, box, found in zip(starts, boxes, bottoms, strict=True):
        expected = minimize(valley, start, jac=True, method="L-BFGS-B", bounds=box)
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.value == expected.fun
        np.testing.assert_array_equal(found.gradient, expected.jac)
        counts.append(expected.nfev)
    assert sum(asked) == sum(counts)
    if descent.ROUTINE_IS_KNOWN:
        assert len(asked) == max(counts)  # one call answers all that wait
        assert asked[0] == len(starts)
        assert min(counts) == 1


def test_bottoms_are_frozen():
    found = descend(quartics, np.array([0.9]), np.array([[0.1, 0.95]]))
    with pytest.raises(FrozenInstanceError):
        found.value = 0.0
