"""Constraints known beforehand: what they say, against Python itself; which points are left, by brute force."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conditional_spaces import every_combination, finite_spaces
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aegisbo.errors import AegisError, InvalidInput
from aegisbo.space import Choice, Int, Params, Real, Space, read_space
from aegisbo.space.allowed import draw, pulled_back
from aegisbo.space.constraints import Constraints

PARAMETERS = {
    "a": Real(-5, 10),
    "b": Real(1e-3, 1e2, log=True),
    "n": Int(2, 30, step=4),
    "kind": Choice(["deep", "wide", None]),
    "flag": Choice([True, False]),
    "size": Choice([32, 64.5, 128]),
}
WORDS = {"abs": abs, "min": min, "max": max, "sqrt": math.sqrt, "log": math.log, "exp": math.exp}

TEXTS = [
    "a < b",
    "a + 2*b <= 3",
    "-2 < a <= n",
    "n != 6",
    "n == 6 or n >= 22",
    "not a > b",
    "not (a > b and n < 10)",
    "kind != 'deep' or n <= 10",
    "kind == None",
    "flag",
    "flag or a < 0",
    "not flag and size > 60",
    "flag == (a < b)",
    "a**2 + b**2 < 30",
    "abs(a) <= 3 < max(a, b, n)",
    "min(a, n) / 2 - 1 < +b * -1 + 7",
    "sqrt(b) < log(n) + exp(-a)",
]


def points(space: Space, count: int) -> tuple[np.ndarray, list[Params]]:
    Z = space.cube.fill(np.random.default_rng(0).random((count, space.cube.parameters)))
    return Z, [space.params(z) for z in Z]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_means_what_it_means_in_python(text: str) -> None:
    space = Space(PARAMETERS, constraints=[text])
    Z, params = points(space, 300)
    expected = [bool(eval(text, {**WORDS, **each})) for each in params]  # our own texts
    assert space.cube.allowed(Z).tolist() == expected
    assert 0 < sum(expected) < 300, "a test that cannot fail"
    violation = space.cube.violation(Z)
    assert not violation[np.array(expected)].any()
    assert [bool(space.broken(each)) for each in params] == [not each for each in expected]


def test_the_violation_grows_with_the_distance() -> None:
    cube = Space([(-5, 10), (2, 3)], constraints=["x0 + x1 <= 3", "x0 <= 8"]).cube
    Z = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    growing = np.diff(cube.violation(Z)[cube.violation(Z) > 0])
    assert len(growing) > 10
    assert (growing > 0).all()


@pytest.mark.parametrize(
    ("text", "linear"),
    [
        ("a + 2*b <= 3", True),
        ("3 > a / 2 - (b - 1) * -4", True),
        ("-a >= 2*b - a - 1", True),
        ("a * b <= 3", False),
        ("a < b < 3", False),
        ("c <= a", False),  # on a logarithmic scale
        ("n <= a", False),  # has levels
    ],
)
def test_slacks_are_the_differences_of_both_sides(text: str, linear: bool) -> None:
    space = Space({"a": Real(-2, 5), "b": Real(0, 3), "c": Real(1, 9, log=True), "n": Int(1, 4)}, constraints=[text])
    rules = space.cube.rules
    assert isinstance(rules, Constraints)
    assert (rules._linear is not None) == linear
    Z = np.random.default_rng(0).random((50, 4))
    slacks = space.cube.slacks(Z)[:, 0]
    ratios = []
    for z, slack in zip(Z, slacks, strict=True):
        *sides, last = [eval(side, {}, dict(space.from_unit(z))) for side in re.split("<=|>=|<|>", text)]
        differences = np.diff([*sides, last]) * (-1 if ">" in text else 1)
        ratios.append(min(differences) / slack)
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)  # in a unit of its own
    assert ratios[0] > 0


def test_a_value_that_does_not_exist_is_not_allowed() -> None:
    Z = np.array([[0.1], [0.49], [0.9]])
    for text, expected in {
        "log(x0) < 5": [False, False, True],
        "not log(x0) > 5": [False, False, True],
        "x0 < -0.5 or log(x0) < 5": [True, False, True],
        "x0 < -0.5 and log(x0) < 5 or x0 > 0.5": [False, False, True],
        "log(x0) != 5": [False, False, True],
        "not (log(x0) > 5 or x0 > 2)": [False, False, True],
        "not (log(x0) > 5 and x0 < -0.5)": [False, True, True],
        "(log(x0) > 5) == False": [False, False, True],
        "(log(x0) > 5) != (x0 > 2) or x0 > 0": [False, False, True],
    }.items():
        assert Space([(-1, 1)], constraints=[text]).cube.allowed(Z).tolist() == expected


def test_values_on_the_edge_are_judged_as_they_are() -> None:
    """On the way to the cube and back 0.21 of 3 becomes 0.20999999999999996."""
    space = Space({"x": Real(0, 3), "y": Real(-1, 5), "z": Real(1e-6, 0.1, log=True)}, ["x <= y", "z >= 1e-3"])
    shares = [k / 100 for k in range(301)]
    assert [space.broken({"x": share, "y": share, "z": 1e-3}) for share in shares] == [[]] * 301
    below = [math.nextafter(share, -math.inf) for share in shares]
    assert [space.broken({"x": x, "y": y, "z": 0.01}) for x, y in zip(shares, below, strict=True)] == [["x <= y"]] * 301
    assert space.broken({"x": 0.5, "y": 0.5, "z": math.nextafter(1e-3, 0.0)}) == ["z >= 0.001"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_values_at_many_points_are_those_at_each_to_the_last_digit(name: str) -> None:
    parameter = PARAMETERS[name]
    block = np.vstack([np.random.default_rng(1).random((500, parameter.axis.width)), np.eye(parameter.axis.width)])
    values = [parameter.decoded(u[None]).item() for u in block]
    assert list(map(repr, parameter.decoded(block).tolist())) == list(map(repr, values))  # 32 is not 32.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = b", "cannot be read (a comparison is written ==)"),
        ("a <", "cannot be read"),
        ("", "cannot be read"),
        ("a + b", "compares nothing"),
        ("1 < 2", "uses no parameter"),
        ("a < c", "there is no parameter 'c'"),
        ("kind < 3", "'kind' is no number and has no order"),
        ("kind + 1 < 3", "only numbers can be added"),
        ("sqrt(a, b) < 3", "sqrt takes one number"),
        ("max(a) < 3", "max takes two numbers or more"),
        ("sqrt(x=a) < 3", "is not understood"),
        ("not a", "not, and, or join comparisons"),
        ("__import__('os').system('true') < 1", "is not understood"),
        ("a.real < 1", "is not understood"),
        ("[a][0] < 1", "is not understood"),
        ("a in (1, 2)", "is not understood"),
        ("a % 2 < 1", "is not understood"),
        ("(lambda: 1)() < a", "is not understood"),
        ("a if flag else b < 1", "is not understood"),
        ("kind != 'Deep' or n <= 10", "kind is never 'Deep'; it is one of 'deep', 'wide', None."),
        ("a < b and 'Deep' == kind", "kind is never 'Deep'"),
        ("kind != 3", "kind is never 3"),
        ("size == 64", "size is never 64; it is one of 32, 64.5, 128."),
        ("flag != 'True'", "flag is never 'True'; it is one of True, False."),
        ("a != 'deep'", "a is a number and never 'deep'"),
        ("None == n + 1", "n + 1 is a number and never None"),
        ("9**9**9 < a", "satisfies the constraint 9 ** 9 ** 9 < a"),
        (f"1{'0' * 400} < a", "a whole number in it is beyond 1e308"),
    ],
)
def test_nothing_else_is_understood(text: str, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Space(PARAMETERS, constraints=[text])
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("learning-rate", "learning-rate < 1", "no parameter 'learning'"),
        ("lambda", "lambda < 1", "cannot be read"),
        ("weight decay", "weight decay < 1", "cannot be read"),
    ],
)
def test_names_that_texts_cannot_speak_of(name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Space({name: (0, 2)}, constraints=[text])
    assert why in str(caught.value)
    assert f"A text cannot use {name}: write a function that takes **params." in str(caught.value)
    assert Space({name: (0, 2)}, [lambda **params: params[name] < 1]).broken({name: 1.5})


def test_a_name_is_found_that_python_reads_as_another() -> None:
    micro, letter = "\u00b5", "\u03bc"
    space = Space({micro: (0.0, 1.0)}, constraints=[f"{micro} < 0.5"])
    assert (space.broken({micro: 0.6}), space.broken({micro: 0.4})) == ([f"{micro} < 0.5"], [])
    assert Space.from_description(space.describe()) == space
    assert Space({letter: (0.0, 1.0)}, constraints=[f"{micro} < 0.5"]).broken({letter: 0.6})


@pytest.mark.parametrize(
    ("constraints", "why"),
    [
        (["a > 11"], "satisfies the constraint a > 11: relax it"),
        (["a < 0", "a > 1", "n < 10"], "satisfies all of the constraints a < 0; a > 1; n < 10"),
        (["a + b == 3"], "What must be equal on real axes, compute inside the function"),
        ("a < b", "constraints must be a list, such as"),
        (7, "constraints must be a list"),
        ([7], "A constraint is a text"),
        ([lambda a, c: True], "takes 'c', which is no parameter"),
        ([lambda: True], "takes no parameter"),
        ([lambda a: 1.0], "must return True or False, got 1.0"),
        ([lambda a: a.nonsense], "raised AttributeError"),
    ],
)
def test_constraints_that_cannot_be_used_are_refused(constraints: Any, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Space(PARAMETERS, constraints=constraints)
    assert why in str(caught.value)
    assert ("What must be equal" in str(caught.value)) == (constraints == ["a + b == 3"])


def test_a_parameter_and_the_list_may_not_have_the_same_name() -> None:
    assert Space({"constraints": (0, 1)}).describe()["constraints"]["type"] == "real"  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="rename it"):
        Space({"constraints": (0, 1), "a": (0, 1)}, constraints=["a < 0.5"])


def test_what_is_not_there_breaks_nothing() -> None:
    when = {"kind": "deep"}
    space = Space(
        {"kind": Choice(["deep", "flat"]), "n": Int(1, 9, when=when), "m": Int(1, 9)},
        constraints=["n > m", lambda n, m: n + m < 12, lambda m, n=0: m > 1],
    )
    expected = [{"kind": "deep", "n": n, "m": m} for n in range(1, 10) for m in range(2, 10) if n > m and n + m < 12]
    expected += [{"kind": "flat", "m": m} for m in range(2, 10)]
    found = [space.params(z) for z in space.cube.every_point]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert space.cube.size == len(expected)


def test_what_is_not_there_has_room_to_spare() -> None:
    parameters = {"kind": Choice(["deep", "flat"]), "a": Real(0, 1, when={"kind": "deep"}), "b": Real(0, 1)}
    space = Space(parameters, constraints=["a + b <= 1.2"])
    Z = np.array([[0.0, 1.0, 0.5, 0.9], [1.0, 0.0, 0.9, 0.9]])  # flat, deep
    with np.errstate(all="raise"):
        flat, deep = space.cube.slacks(Z)[:, 0]
    assert flat > 0 > deep


@given(finite_spaces(), st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
def test_allowed_points_of_finite_spaces_by_brute_force(space: Space, data: st.DataObject) -> None:
    assume(len(space.parameters) >= 2 and space.cube.size <= 300)
    chosen = data.draw(st.sampled_from(sorted(map(repr, every_combination(space)))))

    def others(**params: Any) -> bool:
        return repr(params) <= chosen

    constrained = space.constrained([others])
    expected = {repr(params) for params in every_combination(space) if repr(params) <= chosen}
    assert {repr(constrained.params(z)) for z in constrained.cube.every_point} == expected
    cube, taken = constrained.cube, constrained.cube.every_point[:0]
    for _ in range(len(expected)):
        assert not cube.exhausted(taken)
        z = cube.unused(cube.every_point[0], taken)
        assert repr(constrained.params(z)) in expected
        taken = np.vstack([taken, z])
    assert cube.exhausted(taken)


def test_points_are_drawn_where_little_is_allowed() -> None:
    space = Space([(-5, 10)] * 3, constraints=["abs(x0 - 1) + abs(x1 - 2) + abs(x2 - 3) < 0.02"])
    Z = draw(space.cube, np.random.default_rng(0), 200)
    assert Z.shape == (200, 3)
    assert space.cube.allowed(Z).all()
    assert len(np.unique(Z, axis=0)) > 100


def test_draws_are_uniform_where_half_is_allowed() -> None:
    space = Space([(0, 1), (0, 1)], constraints=["x0 < x1"])
    Z = draw(space.cube, np.random.default_rng(0), 4000)
    np.testing.assert_allclose(Z.mean(axis=0), [1 / 3, 2 / 3], atol=0.02)  # the centroid of the triangle


def test_a_point_is_pulled_back_to_the_edge() -> None:
    cube = Space([(-5, 10), (2, 3)], constraints=["x0 + x1 <= 3"]).cube
    inside, outside = np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]])
    (back,) = pulled_back(cube, inside, outside)
    assert cube.allowed(back[None])[0]
    assert back == pytest.approx([6 / 15, 0.0], abs=1e-8)  # x0 = 1


@pytest.mark.parametrize("named", [True, False])
def test_a_space_is_read_back_from_its_description(named: bool) -> None:
    parameters: Any = {"x0": (0.0, 1.0), "x1": (0.0, 1.0)}
    space = Space(parameters if named else list(parameters.values()), constraints=["x0<x1", "x0 + x1 <= 1"])
    assert Space.from_description(space.describe()) == space
    assert space != Space(parameters if named else list(parameters.values()))
    assert [rule.text for rule in space.constraints] == ["x0 < x1", "x0 + x1 <= 1"]


def test_a_space_file_has_constraints(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    text = 'constraints = ["a < b"]\n' + "".join(f'[{n}]\ntype = "real"\nlow = 0\nhigh = 1\n' for n in "ab")
    file.write_text(text, "utf-8")
    assert read_space(file) == Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, constraints=["a < b"])


def test_a_function_is_known_by_name_until_it_is_given_again() -> None:
    def ordered(x: float, y: float) -> bool:
        return x < y

    space = Space({"x": (0.0, 1.0), "y": (0.0, 1.0)}, constraints=[ordered])
    read = Space.from_description(space.describe())
    assert read == space
    with pytest.raises(AegisError, match=r"ordered\(\), a function that is not part of it"):
        read.cube.allowed(np.zeros((1, 2)))
    again = read.given([ordered])
    assert again.cube.allowed(np.array([[0.1, 0.2], [0.2, 0.1]])).tolist() == [True, False]


def test_two_lambdas_are_two_constraints() -> None:
    space = Space({"x": Int(1, 9), "y": Int(1, 9)}, constraints=[lambda x: x > 3, lambda y: y > 4])
    expected = [(x, y) for x, y in itertools.product(range(1, 10), repeat=2) if x > 3 and y > 4]
    assert space.cube.size == len(expected)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"kind": Choice(["a", "b"]), "x": Real(0, 1, when={"kind": "b"}), "y": Real(0, 1)}, "x < y"),
        ({"x": Real(1e-300, 1e300, log=True), "y": Real(1e-300, 1e300, log=True)}, "x * y < 1e-5"),
        ({"x": Real(-8e307, 8e307), "y": Real(-8e307, 8e307)}, "10*x <= y"),
    ],
)
def test_a_slack_is_a_number_without_a_word_whatever_the_sizes(parameters: dict[str, Any], text: str) -> None:
    cube = Space(parameters, constraints=[text]).cube
    Z = cube.fill_all(np.random.default_rng(0).random((50, cube.parameters)))
    assert ((cube.slacks(Z)[:, 0] > 0) == cube.allowed(Z)).all()
    assert np.isfinite(cube.slacks(Z)).all()


def test_a_slack_has_the_same_unit_whatever_the_sizes() -> None:
    slacks = []
    for size in (1.0, 1e200, 1e300):
        cube = Space({"x": Real(-size, size), "y": Real(-size, size)}, constraints=["x <= y"]).cube
        slacks.append(cube.slacks(np.array([[0.2, 0.6], [0.6, 0.2]])))
    np.testing.assert_allclose(slacks, [slacks[0]] * 3, rtol=1e-9)
    assert 0.1 < slacks[0][0] < 10.0


@pytest.mark.parametrize("spec", [[Choice([0.1, 0.2]), Real(0, 1)], [Real(0, 1)] * 2, [Int(0, 3), Real(0, 1)]])
def test_a_function_is_given_what_the_objective_is(spec: list[Any]) -> None:
    seen: list[Any] = []
    space = Space(spec, constraints=[lambda x: bool(seen.append(x)) or True])
    objective = space.arrange(space.params(space.cube.fill(np.full((1, 2), 0.3))[0]))
    assert {type(x) for x in seen} == {type(objective)}
    assert {tuple(map(type, x)) for x in seen} == {tuple(map(type, objective))}


def test_an_integer_that_is_too_large_to_be_reckoned_with_is_a_choice() -> None:
    large = 10**400
    with pytest.raises(InvalidInput, match="'k' is no number and has no order"):
        Space({"k": Choice([large, 1])}, constraints=["k > 2"])
    assert Space({"k": Choice([large, 1])}, constraints=["k != 1"]).cube.size == 1


def test_a_number_beyond_all_numbers_is_refused() -> None:
    for text in (f"0x{'f' * 5000} > a", f"a == 0x{'f' * 5000}"):
        with pytest.raises(InvalidInput, match="a whole number in it is beyond 1e308") as caught:
            Space({"a": (0.0, 1.0)}, constraints=[text])
        assert len(str(caught.value)) < 300


def test_a_text_that_would_take_minutes_is_refused_at_once() -> None:
    text = " and ".join(["a < 1"] * 20_000)
    with pytest.raises(InvalidInput, match=r"has 199,995 characters, and 10,000 are the most: write it as a function"):
        Space({"a": (0.0, 1.0)}, constraints=[text])


@pytest.mark.parametrize("end", ["", "+", ") < 1", " < b", " < sin(a)", ' == "x"', " > 10**9"])
def test_messages_repeat_the_beginning_of_a_long_text_only(end: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Space({"a": (0.0, 1.0)}, constraints=["a + " * 15 + "min(a" + ", a" * 400 + ")" + end])
    assert len(str(caught.value)) < 600
