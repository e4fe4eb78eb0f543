from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real, Space

NAMED = Space({"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512, log=True), "act": Choice(["relu", "tanh", None])})
shares = st.floats(0, 1)


@st.composite
def reals(draw: st.DrawFn) -> Real:
    """Lopsided boxes of all magnitudes."""
    log = draw(st.booleans())
    low = draw(st.floats(1e-9, 1e6) if log else st.floats(-1e6, 1e6))
    return Real(low, low + draw(st.floats(1e-3, 1e9)) * max(1.0, abs(low)), log)


@st.composite
def ints(draw: st.DrawFn) -> Int:
    log, step = draw(st.booleans()), draw(st.integers(1, 7))
    low = draw(st.integers(1, 40)) if log else draw(st.integers(-40, 40))
    return Int(low, low + step * draw(st.integers(1, 60)), log, step)


@given(reals(), shares)
def test_real_round_trip(real, u):
    space = Space([real])
    x = space.from_unit(np.array([u]))
    assert real.low <= x[0] <= real.high
    low, high = (math.log(real.low), math.log(real.high)) if real.log else (real.low, real.high)
    rounding = math.ulp(max(abs(low), abs(high))) / (high - low)
    assert space.to_unit(x)[0] == pytest.approx(u, abs=1e-15 + 4 * rounding)


@given(reals())
def test_the_ends_are_hit_exactly(real):
    space = Space({"a": real})
    for u, end in ((0.0, real.low), (1.0, real.high)):
        assert space.params(np.array([u]))["a"] == end
        assert space.to_unit({"a": end})[0] == u
        assert space.params(np.array([3 * u - 1]))["a"] == end  # beyond the ends, too


def test_a_real_is_spaced_evenly_or_by_factors():
    space = Space([(-5, 10), (2, 3), Real(1e-6, 1e-2, log=True)])
    np.testing.assert_allclose(space.from_unit(np.array([0.2, 0.25, 0.5])), [-2, 2.25, 1e-4], rtol=1e-14)
    np.testing.assert_allclose(space.to_unit([-2, 2.25, 1e-4]), [0.2, 0.25, 0.5], rtol=1e-14)


@given(ints())
def test_every_integer_of_the_grid_has_its_point(parameter):
    space = Space([parameter])
    for value in range(parameter.low, parameter.high + 1, parameter.step):
        u = space.to_unit([value])
        assert space.from_unit(u) == [value]
        np.testing.assert_array_equal(space.cube.round(u[None])[0], u)


@given(ints(), shares)
def test_ints_stay_on_their_grid(parameter, u):
    value = Space({"k": parameter}).params(np.array([u]))["k"]
    assert type(value) is int
    assert value in range(parameter.low, parameter.high + 1, parameter.step)


def test_integers_get_equal_shares():
    space = Space([Int(-2, 7, step=3)])
    values = [space.from_unit(np.array([u]))[0] for u in (np.arange(400) + 0.5) / 400]
    assert {value: values.count(value) for value in values} == {-2: 100, 1: 100, 4: 100, 7: 100}


def test_what_lies_between_integers_is_refused_with_the_nearest_one():
    space = Space({"k": Int(-2, 7, step=3)})
    assert space.check({"k": 4.0}) == {"k": 4}
    for value, nearest in ((0, 1), (5.4, 4), (4.0000000001, 4), (np.float64(6.5), 7)):
        with pytest.raises(InvalidInput) as error:
            space.check({"k": value})
        assert str(error.value) == (
            f"Parameter 'k': {float(value)!r} is not in Int(-2, 7, step=3): use {nearest}, or leave it out."
        )


def test_values_come_out_as_given_and_in_builtin_types():
    texts = ["".join(["re", "lu"]), "tanh"]
    space = Space({"a": Real(np.float32(0), np.int64(2)), "k": Int(np.int64(1), 5), "c": Choice(texts)})
    params = space.check({"a": np.float64(0.1), "k": np.int32(3), "c": "relu"})
    assert params == {"a": 0.1, "k": 3, "c": "relu"}
    assert [type(value) for value in params.values()] == [float, int, str]
    assert params["c"] is texts[0]
    again = space.params(space.to_unit(params))
    assert [type(value) for value in again.values()] == [float, int, str]
    assert again["c"] is texts[0]
    assert type(space.parameters["a"].low) is float
    assert type(space.parameters["k"].low) is int
    assert Choice(np.array([0.5, 2.0])).values == (0.5, 2.0)
    assert {type(value) for value in Choice(np.array([1, 2])).values} == {int}


@pytest.mark.parametrize("choice", ["relu", "tanh", None])
def test_choices_are_one_hot(choice):
    u = NAMED.to_unit({"lr": 1e-3, "units": 32, "act": choice})
    np.testing.assert_array_equal(u[2:], [choice == other for other in ("relu", "tanh", None)])
    assert NAMED.from_unit(u)["act"] is choice


def test_what_the_function_receives():
    u = np.array([0.5, 0.5])
    named = Space({"b": (0, 1), "a": (2, 3)})
    assert named.from_unit(u) == named.params(u) == {"b": 0.5, "a": 2.5}
    assert list(named.params(u)) == ["b", "a"]
    vector = Space([(0, 1), (2, 3)]).from_unit(u)
    assert isinstance(vector, np.ndarray)
    assert vector.dtype == np.float64
    assert not vector.flags.writeable
    np.testing.assert_array_equal(vector, [0.5, 2.5])
    assert Space([(0, 1), Int(2, 4)]).from_unit(u) == [0.5, 3]
    assert Space(np.array([[0, 1], [2, 3]])).params(u) == {"x0": 0.5, "x1": 2.5}


def test_points_are_read_in_either_form():
    space = Space([(-5, 10), (2, 3)])
    for x in (np.array([1, 2.5]), [1, 2.5], {"x1": 2.5, "x0": 1}):
        assert space.check(x) == {"x0": 1.0, "x1": 2.5}


@pytest.mark.parametrize("space", [NAMED, Space([(-5, 10), Int(0, 9, step=3), Choice([1, "1", False])])])
def test_descriptions_survive_json(space):
    assert Space.from_description(json.loads(json.dumps(space.describe()))) == space


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real(5, 1), "Real(5.0, 1.0) has its bounds reversed: swap low and high."),
        (lambda: Real(2, 2), "leaves nothing to choose: put a constant into the function."),
        (lambda: Real(0, math.inf), "high must be a finite number, got inf."),
        (lambda: Real(math.nan, 1), "low must be a finite number, got nan."),
        (lambda: Real("0", 1), "low must be a finite number, got '0'."),
        (lambda: Real(False, 1), "low must be a finite number, got False."),
        (lambda: Real(0, 10**400), "high must be a finite number, got 1000"),
        (lambda: Real(0, 1, log=True), "has no logarithm at 0.0: raise low above 0 or leave out log."),
        (lambda: Real(1, 2, log="yes"), "log must be True or False, got 'yes'."),
        (lambda: Real(-1e308, 1e308), "too narrow or too wide for floating point: choose other bounds."),
        (lambda: Real(1e300, np.nextafter(1e300, 2e300), log=True), "too narrow or too wide for floating point"),
        (lambda: Int(5, 1), "Int(5, 1) has its bounds reversed"),
        (lambda: Int(3, 3), "leaves nothing to choose"),
        (lambda: Int(0.5, 3), "low must be an integer, got 0.5: use Real if it may have decimals."),
        (lambda: Int(-1, 3, log=True), "has no logarithm at -1"),
        (lambda: Int(0, 10, step=3), "never reaches its high: set high=9 or another step."),
        (lambda: Int(0, 10, step=0), "step must be 1 or more, got 0."),
        (lambda: Int(0, 10**15), "goes beyond 1099511627776: use Real, and round inside the function."),
        (lambda: Choice("abc"), "Choice needs a list of values, got 'abc'."),
        (lambda: Choice(3), "Choice needs a list of values, got 3."),
        (lambda: Choice([[1], [2]]), "Choice cannot hold [1]: use text, finite numbers, True, False or None"),
        (lambda: Choice([1.0, math.nan]), "Choice cannot hold nan"),
        (lambda: Choice([1, True]), "Choice([1, True]) holds equal values: leave out all but one of them."),
        (lambda: Choice(["a"]), "leaves nothing to choose"),
        (lambda: Space([]), "A space needs at least one parameter, got none."),
        (lambda: Space(3), "A space is a dict or a list of parameters, got 3."),
        (lambda: Space((0, 1)), "A space is a dict or a list of parameters, got (0, 1): write [(0, 1)] for one"),
        (lambda: Space([-0.5, 1e3]), "got [-0.5, 1000.0]: write [(-0.5, 1000)] for one parameter with these bounds."),
        (lambda: Space(np.array([0, 1])), "got array([0, 1]): write [(0, 1)] for one parameter with these bounds."),
        (lambda: Space([0, 1, 2]), "got [0, 1, 2]: write a pair (low, high) for each parameter."),
        (lambda: Space(np.array(3)), "A space is a dict or a list of parameters, got array(3)."),
        (lambda: Space("space.toml"), "got 'space.toml': write aegisbo.space.read_space('space.toml')."),
        (lambda: Space(Real(0, 1)), "got Real(0.0, 1.0): write [Real(0.0, 1.0)], or a dict by name."),
        (lambda: Space({(0, 1), (2, 3)}), "A space is a dict or a list of parameters, got {(0, 1), (2, 3)}."),
        (lambda: Space({}), "A space needs at least one parameter, got none."),
        (lambda: Space({"act": ["relu", "tanh"]}), "got ['relu', 'tanh']: write Choice(['relu', 'tanh'])."),
        (lambda: Space({"act": ("a", "b", "log")}), "got ('a', 'b', 'log'): write Choice(['a', 'b', 'log'])."),
        (lambda: Space({"act": {"tanh", "relu"}}), ": write Choice(['relu', 'tanh'])."),
        (lambda: Space({"n": [1, 2, 3]}), "got [1, 2, 3]: write Choice([1, 2, 3])."),
        (lambda: Space({"n": range(1, 9, 3)}), "got range(1, 9, 3): write Int(1, 7, step=3)."),
        (lambda: Space({"n": range(2)}), "got range(0, 2): write Int(0, 1)."),
        (lambda: Space({"n": range(0)}), "or a pair (low, high), got range(0, 0)."),
        (lambda: Space({"lr": (1e-5, 1, "log-uniform")}), ": write Real(1e-05, 1.0, log=True)."),
        (lambda: Space({"lr": 0.1}), "got 0.1: put a constant into the function."),
        (lambda: Space({"lr": [0.1]}), "Parameter 'lr' must be Real, Int, Choice or a pair (low, high), got [0.1]."),
        (lambda: Space({"lr": ("0", 1)}), "Parameter 'lr': low must be a finite number, got '0'."),
        (lambda: Space(Bounds([0, 1], [5, np.inf])), "Parameter 'x1': high must be a finite number, got inf."),
        (lambda: Choice({"a", "b"}), "Choice needs values in a fixed order, got {'"),
        (
            lambda: Space([(0, 1), (0, 1, 2)]),
            "Parameter 'x1' must be Real, Int, Choice or a pair (low, high), got (0, 1",
        ),
        (lambda: Space({"a": (1, 0)}), "Parameter 'a': Real(1.0, 0.0) has its bounds reversed"),
        (lambda: Space({3: (0, 1)}), "A parameter's name must be text, got 3."),
        (lambda: Space.from_description({"a": {"low": 0}}), "Parameter 'a' must have a type (real, int, choice), got"),
        (
            lambda: Space.from_description({"a": {"type": "rael"}}),
            "'a': Unknown parameter type 'rael': did you mean 'real'",
        ),
        (
            lambda: Space.from_description([{"type": "int", "lo": 0}]),
            "'x0': Unknown key of type int 'lo': did you mean 'lo",
        ),
        (lambda: Space.from_description([{"type": "int", "low": 0}]), "Parameter 'x0': 'high' is missing."),
    ],
)
def test_bad_spaces_are_refused_with_a_remedy(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("bounds", "pairs"),
    [
        (Bounds([-5, 2], [10, 3]), [(-5, 10), (2, 3)]),
        (Bounds([-5, 2], 10), [(-5, 10), (2, 10)]),
        (Bounds(-5, 10), [(-5, 10)]),
    ],
)
def test_the_bounds_of_scipy_are_a_list_of_pairs(bounds, pairs):
    assert Space(bounds) == Space(pairs) == Space(iter([iter(pair) for pair in pairs]))


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Real(1e-6, 0.1, log=True), "Real(1e-06, 0.1, log=True)"),
        (Real(-5, 10), "Real(-5.0, 10.0)"),
        (Int(2, 8, step=3), "Int(2, 8, step=3)"),
        (Int(2, 8, True), "Int(2, 8, log=True)"),
        (Choice(["a", None]), "Choice(['a', None])"),
    ],
)
def test_a_parameter_looks_as_one_would_type_it(parameter, text):
    assert repr(parameter) == text
    assert eval(text) == parameter


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (
            {"lr": 1.0, "units": 32, "act": "relu"},
            "Parameter 'lr': 1.0 is not within [1e-06, 0.1]: widen the bounds or",
        ),
        ({"lr": 0.01, "units": 8, "act": "relu"}, "Parameter 'units': 8.0 is not within [16, 512]"),
        ({"lr": "0.01", "units": 32, "act": "relu"}, "Parameter 'lr': the value must be a finite number, got '0.01'."),
        ({"lr": 0.01, "units": math.nan, "act": "relu"}, "'units': the value must be a finite number, got nan."),
        (
            {"lr": 0.01, "units": 32, "act": "rel"},
            "'act': 'rel' is not among the choices: use one of ['relu', 'tanh', N",
        ),
        ({"lr": 0.01, "units": 32, "act": np.zeros(2)}, "is not among the choices"),
        ({"lr": 0.01, "units": 32}, "x must have the names lr, units, act, got {'lr'"),
        ([0.01, 32, "relu"], "x must be a dict with the names lr, units, act, got [0.01"),
    ],
)
def test_bad_values_are_refused_with_a_remedy(x, message):
    with pytest.raises(InvalidInput) as error:
        NAMED.to_unit(x)
    assert message in str(error.value)


@pytest.mark.parametrize("x", [3.0, "ab", [1.0], [1.0, 2.5, 3.0]])
def test_a_vector_of_the_wrong_length_is_refused(x):
    with pytest.raises(InvalidInput, match="x must hold 2 values, got"):
        Space([(-5, 10), (2, 3)]).to_unit(x)


@pytest.mark.parametrize("u", [[0.5], [0.5, math.nan]])
def test_a_point_that_is_none_of_the_cube_is_refused(u):
    with pytest.raises(InvalidInput, match="A point of the cube"):
        Space([(-5, 10), (2, 3)]).from_unit(np.array(u))
