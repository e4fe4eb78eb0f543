"""Parameters with conditions; the witness is every combination of values, filtered by the words of the conditions."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import replace

import numpy as np
import pytest
from conditional_spaces import every_combination, finite_spaces
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Params, Real, Space, read_space
from aegisbo.space.cube import ABSENT
from aegisbo.space.widening import differences

TRAINING = Space(
    {
        "lr": Real(1e-4, 1.0, log=True, when={"optimizer": ["adam", "sgd"]}),
        "optimizer": Choice(["adam", "sgd", "lbfgs"]),
        "momentum": Real(0, 1, when={"optimizer": "sgd"}),
        "nesterov": Choice([True, False], when={"momentum": "> 0.5"}),
        "layers": Int(1, 4),
        "width": Int(8, 64, step=8, when={"layers": ">= 2", "optimizer": "adam"}),
    }
)


@given(finite_spaces())
@settings(max_examples=30)
def test_the_points_of_a_finite_space_are_the_combinations_of_what_is_there(space: Space) -> None:
    expected = every_combination(space)
    points = space.cube.every_point
    found = [space.params(u) for u in points]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert space.cube.size == len(expected) == len(set(space.cube.keys(points)))
    for u, params in zip(points, found, strict=True):
        np.testing.assert_array_equal(space.to_unit(params), u)
        np.testing.assert_array_equal(space.cube.round(u[None])[0], u)


@given(finite_spaces(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_a_cube_is_exhausted_after_all_its_points_and_not_before(space: Space, seed: int) -> None:
    cube = space.cube
    assume(cube.size <= 60)
    rng, taken = np.random.default_rng(seed), np.empty((0, cube.width))
    for _ in range(int(cube.size)):
        assert not cube.exhausted(taken)
        taken = np.vstack([taken, cube.unused(cube.fill(rng.random((1, cube.parameters)))[0], taken)])
    assert cube.exhausted(taken)
    assert len(np.unique(taken, axis=0)) == cube.size


@given(st.lists(st.floats(0, 1), min_size=9, max_size=9))
def test_random_points_have_what_their_conditions_say(u: list[float]) -> None:
    params = TRAINING.params(np.array(u))
    optimizer = params["optimizer"]
    assert ("lr" in params) == (optimizer != "lbfgs")
    assert ("momentum" in params) == (optimizer == "sgd")
    assert ("nesterov" in params) == (params.get("momentum", 0.0) > 0.5)
    assert ("width" in params) == (params["layers"] >= 2 and optimizer == "adam")
    point = TRAINING.to_unit(params)
    assert TRAINING.params(point) == pytest.approx(params)
    there = TRAINING.cube.present(point[None])[0]
    assert (point[~there] == ABSENT).all()
    assert ((point[there] >= 0) & (point[there] <= 1)).all()


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (">= 3", lambda n: n >= 3),
        ("> 3", lambda n: n > 3),
        ("<= 3", lambda n: n <= 3),
        ("<3", lambda n: n < 3),
        ("2 to 4", lambda n: 2 <= n <= 4),
        ("-1 to 2.5", lambda n: -1 <= n <= 2.5),
        ([1, 4], lambda n: n in (1, 4)),
        (range(2, 5), lambda n: 2 <= n < 5),
        (5, lambda n: n == 5),
    ],
)
def test_what_may_be_said_of_a_number(text, holds) -> None:
    space = Space({"n": Int(1, 6), "a": Int(0, 1, when={"n": text})})
    assert [n for n in range(1, 7) if "a" in space.changed({"n": 1}, {"n": n})] == [n for n in range(1, 7) if holds(n)]
    assert Space.from_description(json.loads(json.dumps(space.describe()))) == space


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<"])
@pytest.mark.parametrize("low", [-10, -(2**40)])
def test_the_limit_itself_on_a_grid_that_begins_below_zero(low: int, sign: str) -> None:
    compare = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}[sign]
    space = Space({"n": Int(low, 12, step=2), "a": Int(0, 1, when={"n": f"{sign} 2"})})
    for n in (0, 2, 4):
        assert ("a" in space.changed({"n": low}, {"n": n})) == compare(n, 2)


@pytest.mark.parametrize("bounds", [(-10, 10, False), (2, 100, True)])
def test_without_its_end_a_real_axis_has_no_child_there(bounds: tuple[float, float, bool]) -> None:
    parent = Real(*bounds)
    for end, sign in ((parent.low, ">"), (parent.high, "<")):
        space = Space({"x": parent, "a": Int(0, 1, when={"x": f"{sign} {end}"})})
        assert space.check({"x": end}) == {"x": end}
        assert "a" in space.changed({"x": end}, {"x": 5.0})


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<"])
def test_the_limit_itself_on_a_real_axis(sign: str) -> None:
    compare = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}[sign]
    space = Space({"x": Real(0.1, 7), "a": Int(0, 1, when={"x": f"{sign} 0.3"})})
    for x in (0.1, 0.2999, 0.3, 0.3001, 7):
        assert ("a" in space.changed({"x": 0.1}, {"x": x})) == compare(x, 0.3)


def test_a_space_with_conditions_is_described_and_read_again(tmp_path) -> None:
    assert Space.from_description(json.loads(json.dumps(TRAINING.describe()))) == TRAINING
    file = tmp_path / "space.toml"
    file.write_text(
        '[optimizer]\ntype = "choice"\nvalues = ["adam", "sgd"]\n\n[layers]\ntype = "int"\nlow = 1\nhigh = 3\n\n'
        '[lr]\ntype = "real"\nlow = 0\nhigh = 1\nwhen = {optimizer = "adam", layers = ">= 2"}\n'
    )
    lr = Real(0, 1, when={"optimizer": "adam", "layers": ">= 2"})
    assert read_space(file) == Space({"optimizer": Choice(["adam", "sgd"]), "layers": Int(1, 3), "lr": lr})


def test_without_conditions_a_description_is_as_it_always_was() -> None:
    assert Space({"a": Real(0, 1)}).describe() == {"a": {"type": "real", "low": 0.0, "high": 1.0, "log": False}}


def test_a_parameter_prints_as_typed() -> None:
    assert repr(Real(0, 1, when={"a": 1})) == "Real(0.0, 1.0, when={'a': 1})"
    assert repr(Choice([1, 2], when={"a": [1]})) == "Choice([1, 2], when={'a': [1]})"


def test_other_conditions_are_not_a_wider_space() -> None:
    old = Space({"n": Int(1, 6), "a": Int(0, 1, when={"n": 2})})
    assert differences(old, Space({"n": Int(1, 9), "a": Int(0, 3, when={"n": 2})})) == []
    assert len(differences(old, Space({"n": Int(1, 6), "a": Int(0, 1, when={"n": 3})}))) == 1
    assert len(differences(old, Space({"n": Int(1, 6), "a": Int(0, 1)}))) == 1


def test_a_change_brings_what_is_there_then() -> None:
    params: Params = {"optimizer": "lbfgs", "layers": 3}
    changed = TRAINING.changed(params, {"optimizer": "sgd"})
    assert changed == {"optimizer": "sgd", "layers": 3, "lr": pytest.approx(0.01), "momentum": 0.5}
    assert TRAINING.check(changed) == changed
    assert TRAINING.changed(changed, {"optimizer": "lbfgs"}) == params


A, B = Choice(["x", "y"]), Int(1, 4)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"a": Int(0, 1, when={"b": 1}), "b": Int(0, 1, when={"a": 1})}, "circle (a -> b -> a): leave one"),
        ({"a": Int(0, 1, when={"a": 1})}, "circle (a -> a)"),
        ({"a": A, "c": Int(0, 1, when={"A": "x"})}, "Unknown parameter in `when` 'A': did you mean 'a'?"),
        ({"a": A, "c": Int(0, 1, when={"cc": 1})}, "Unknown parameter in `when` 'cc': known: a."),  # not c, which it is
        ({"c": Int(0, 1, when={"cc": 1})}, "Unknown parameter in `when` 'cc': known: none."),
        ({"a": A, "c": Int(0, 1, when={"a": "z"})}, "'z' is not among the choices: use one of ['x', 'y']"),
        ({"a": A, "c": Int(0, 1, when={"a": ">= 2"})}, "'>= 2' is not among the choices"),
        ({"b": B, "c": Int(0, 1, when={"b": 5})}, "5.0 is not within [1, 4]"),
        ({"b": B, "c": Int(0, 1, when={"b": 2.5})}, "when b is 2.5: 2.5 is not in Int(1, 4): use 3"),
        ({"b": B, "c": Int(0, 1, when={"b": "> 4"})}, "when b is '> 4': Int(1, 4) never gets there"),
        ({"b": B, "c": Int(0, 1, when={"b": "4 to 2"})}, "never gets there"),
        ({"b": B, "c": Int(0, 1, when={"b": "many"})}, "write a comparison such as '>= 2', or a range"),
        ({"b": B, "c": Int(0, 1, when={"b": ">= 1e400"})}, "Int(1, 4) never gets there"),
        ({"b": B, "c": Int(0, 1, when={"b": "<= -1e400"})}, "Int(1, 4) never gets there"),
        ({"b": Real(0, 1), "c": Int(0, 1, when={"b": 0.5})}, "write a range, such as '>= 0.5'"),
        (
            {"a": A, "b": Int(0, 1, when={"a": "x"}), "c": Int(0, 1, when={"a": "y", "b": 1})},
            "'c' never exists: no point satisfies a is 'y' and b is 1",
        ),
        (
            {"a": Real(0, 1), "b": Int(0, 1, when={"a": "> 0.5"}), "c": Int(0, 1, when={"a": "<= 0.5", "b": 1})},
            "'c' never exists: no point satisfies a <= 0.5 and b is 1",
        ),
        ([A, Int(0, 1, when={"x0": "x"})], "Conditions need names"),
    ],
)
def test_conditions_that_make_no_sense(spec, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Space(spec)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "when", ["optimizer", {}, {"a": (1, 2)}, {"a": []}, {"a": {"b": 1}}, {1: 1}, [("a", 1)], {"a": {1, 2}}]
)
def test_conditions_that_nobody_reads(when) -> None:
    with pytest.raises(InvalidInput, match="when"):
        Real(0, 1, when=when)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (
            {"optimizer": "lbfgs", "layers": 1, "lr": 0.1},
            "x has lr = 0.1, which exists only when optimizer is one of",
        ),
        ({"optimizer": "sgd", "layers": 1, "lr": 0.1}, "x must have a value for 'momentum'"),
        ({"optimizer": "adam", "layers": 1, "lr": 0.1, "width": 8}, "only when layers >= 2 and optimizer is 'adam'"),
        ({"optimizer": "adam"}, "x must have the names lr (sometimes), optimizer, "),
        ({"optimizer": "lbfgs", "layers": 1, "Lr": 0.1}, "x must have the names"),
    ],
)
def test_a_point_must_have_what_is_there_and_nothing_else(x: Params, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        TRAINING.check(x)
    assert words in str(error.value)


def test_a_long_chain_and_many_parents_are_counted() -> None:
    switches = {f"s{k}": Choice([False, True]) for k in range(8)}
    details = {f"d{k}": Int(1, 3, when={f"s{k}": True}) for k in range(8)}
    assert Space({**switches, **details}).cube.size == 4**8
    chain = {f"c{k}": Int(0, 1, when={f"c{k - 1}": 1} if k else None) for k in range(40)}
    assert Space(chain).cube.size == 41


def test_many_conditions_on_pairs_are_counted() -> None:
    def pairs(count: int, child: Real | Int) -> Space:
        kinds = Choice(["none", "conv", "pool", "skip"])
        parents = {f"{name}{k}": kinds for name in "ab" for k in range(count)}
        children = {f"c{k}": replace(child, when={f"a{k}": "conv", f"b{k}": "conv"}) for k in range(count)}
        return Space({**parents, **children})

    assert pairs(3, Int(1, 3)).cube.size == 18**3  # a pair has 15 ways without the child, and 3 with it
    assert pairs(40, Real(0, 1)).cube.size == math.inf
    assert pairs(4, Int(1, 3)).cube.size >= 18**4  # of more than 100,000 points a bound is enough
    assert pairs(10, Int(1, 2**40)).cube.size >= (15 + 2**40) ** 10


def test_the_witness_counts_a_case_that_can_be_counted_by_hand() -> None:
    space = Space({"a": A, "b": Int(1, 3, when={"a": "y"}), "c": Choice([1, 2], when={"b": ">= 2"})})
    assert len(every_combination(space)) == 1 + 1 + 2 * 2
