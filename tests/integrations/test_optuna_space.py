from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_space import SearchSpace, to_choose

KINDS: list[BaseDistribution] = [
    FloatDistribution(-5, 10),
    FloatDistribution(1e-7, 3, log=True),
    FloatDistribution(-10.2, 10.2, step=0.1),
    FloatDistribution(2, 3, step=0.25),
    FloatDistribution(-3, 2**40 - 3, step=0.25),  # of more steps than an integer may have
    IntDistribution(-5, 10),
    IntDistribution(3, 30, step=9),
    IntDistribution(1, 1000, log=True),
    IntDistribution(-3, 5 * 2**48 - 3, step=5),
    CategoricalDistribution(["a", "b", "c"]),
    CategoricalDistribution([None, 1, 2.5, "1"]),
]


def one(kind: BaseDistribution) -> SearchSpace:
    return SearchSpace({"p": kind})


@given(st.sampled_from(KINDS), st.floats(0, 1))
def test_every_point_is_a_value_of_the_distribution_and_back(kind: BaseDistribution, u: float) -> None:
    space = one(kind)
    x = space.cube.fill(np.array([[u]]))[0]
    params = space.params(x)
    assert kind._contains(kind.to_internal_repr(params["p"]))  # Optuna's own word for it
    assert type(params["p"]) in {FloatDistribution: (float,), IntDistribution: (int,)}.get(
        type(kind), (str, int, float, type(None))
    )
    np.testing.assert_allclose(space.point(params), x, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "value", "coordinate"),
    [
        (FloatDistribution(-5, 10), -5.0, 0.0),
        (FloatDistribution(-5, 10), 1.0, 0.4),
        (FloatDistribution(1e-4, 1e2, log=True), 1.0, 4 / 6),
        (FloatDistribution(2, 3, step=0.25), 2.5, 0.5),  # the third of five cells
        (IntDistribution(-5, 10), -4, 1.5 / 16),
        (IntDistribution(3, 30, step=9), 12, 1.5 / 4),
    ],
)
def test_numbers_lie_where_the_closed_form_says(kind: BaseDistribution, value: float, coordinate: float) -> None:
    assert one(kind).point({"p": value}) == pytest.approx([coordinate])


def test_a_category_is_one_hot() -> None:
    assert one(CategoricalDistribution(["a", "b", "c"])).point({"p": "b"}).tolist() == [0, 1, 0]


def test_steps_come_out_as_they_were_written() -> None:
    space = one(FloatDistribution(-0.3, 0.6, step=0.1))
    levels = [space.params(np.array([(k + 0.5) / 10]))["p"] for k in range(10)]
    assert levels == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_any_object_can_be_chosen() -> None:
    nan, pair = math.nan, ("a", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna warns of choices that databases cannot hold
        space = one(CategoricalDistribution([nan, pair, len]))
    for k, choice in enumerate([nan, pair, len]):
        x = np.eye(3)[k]
        assert space.params(x)["p"] is choice
        assert space.point({"p": choice}).tolist() == x.tolist()


@pytest.mark.parametrize(
    "params",
    [{}, {"x": 1.0}, {"x": 10.5, "c": "a"}, {"x": -5.1, "c": "a"}, {"x": 1.0, "c": "z"}, {"x": math.nan, "c": "a"}],
)
def test_what_is_missing_or_out_of_range_is_no_point(params: dict[str, Any]) -> None:
    space = SearchSpace({"c": CategoricalDistribution(["a", "b"]), "x": FloatDistribution(-5, 10)})
    assert space.point(params) is None
    assert space.point({"x": 10.0, "c": "b", "other": 1}) is not None


@pytest.mark.parametrize(
    "kind", [FloatDistribution(-0.3, 0.6, step=0.1), FloatDistribution(2, 3, step=0.25), IntDistribution(3, 30, step=9)]
)
def test_what_lies_between_the_steps_is_no_point(kind: FloatDistribution | IntDistribution) -> None:
    whole = isinstance(kind, IntDistribution)
    for value in range(3, 31) if whole else np.linspace(kind.low, kind.high, 91).tolist():
        assert (one(kind).point({"p": value}) is not None) == kind._contains(value), value


@pytest.mark.parametrize(
    ("low", "high", "step"), [(1e4, 1e4 + 1, 1e-5), (1550, 1551, 1e-6), (0, 1000, 1e-6), (1e9, 1e9 + 10, 0.1)]
)
def test_tiny_steps_far_from_zero_are_found_again(low: float, high: float, step: float) -> None:
    kind = FloatDistribution(low, high, step=step)
    drawn = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(sampler=drawn)
    for _ in range(200):
        params = study.ask({"p": kind}).params  # as Optuna computes it
        x = one(kind).point(params)
        assert x is not None
        assert one(kind).params(x)["p"] == pytest.approx(params["p"], abs=step / 4)
        assert one(kind).point(one(kind).params(x)) == pytest.approx(x)


def test_only_what_leaves_a_choice_is_chosen_in_the_order_of_names() -> None:
    kinds = {"b": IntDistribution(0, 1), "single": FloatDistribution(2, 2), "a": FloatDistribution(2, 3)}
    assert list(to_choose(kinds)) == ["a", "b"]
    with pytest.raises(InvalidInput, match=r"'b' must be one of Optuna's distributions, got \(0, 1\)"):
        to_choose({"b": (0, 1)})


def test_the_digest_tells_spaces_apart() -> None:
    spaces = [{"p": kind} for kind in KINDS] + [{"q": KINDS[0]}, {"p": FloatDistribution(-5, 10.5)}]
    assert len({SearchSpace(space).digest for space in spaces}) == len(spaces)
    assert one(FloatDistribution(-5, 10)).digest == one(FloatDistribution(-5.0, 10.0)).digest
