"""Runs over spaces with conditions: what the function gets, when a space is exhausted, what may be observed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conditional_spaces import every_combination, finite_spaces
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aegisbo import Choice, Int, Optimizer, Real, minimize
from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.space import Params, Space

SPACE = {
    "kind": Choice(["a", "b", "c"]),
    "x": Real(0, 1, when={"kind": "a"}),
    "y": Real(0, 1, when={"kind": ["a", "b"]}),
    "n": Int(1, 3),
    "z": Real(0, 1, when={"n": ">= 2"}),
}


def loss(params: Params) -> float:
    level = {"a": 0.0, "b": 0.4, "c": 0.5}[params["kind"]]
    distances = [(params.get(name, 0.5) - 0.3) ** 2 for name in ("x", "y", "z")]
    return level + 0.1 * abs(params["n"] - 2) + sum(distances)


def exhaust(space: Space, strategy: str, n_initial: int | None = None, workers: int = 2) -> list[Params]:
    """The points of a run that ends because none is left; some are always under evaluation."""
    optimizer = Optimizer(space, strategy=strategy, seed=3, n_initial=n_initial)
    running = []
    try:
        while True:
            running.append(optimizer.ask())
            if len(running) > workers:
                trial = running.pop(0)
                optimizer.tell(trial, float(len(trial.params)) + 0.1 * trial.number % 3)
    except SpaceExhausted:
        return [trial.params for trial in optimizer.trials]


def by_text(points: list[Params]) -> list[str]:
    return sorted(json.dumps(point, sort_keys=True) for point in points)


@given(finite_spaces())
@settings(max_examples=6, suppress_health_check=[HealthCheck.filter_too_much])
def test_random_points_exhaust_a_finite_space(space: Space) -> None:
    assume(space.cube.size <= 12)
    assert set(by_text(exhaust(space, "random"))) == set(by_text(every_combination(space)))  # which may repeat itself
    assert by_text(exhaust(space, "random", n_initial=100)) == by_text(every_combination(space))


@given(finite_spaces(), st.sampled_from(["aegis", "thompson"]))
@settings(max_examples=4, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_model_exhausts_a_finite_space(space: Space, strategy: str) -> None:
    assume(8 <= space.cube.size <= 24)
    assert by_text(exhaust(space, strategy)) == by_text(every_combination(space))


@pytest.mark.long
@pytest.mark.parametrize("preset", ["modern", "paper", "adaptive"])
def test_every_preset_finds_the_best_branch(preset: str) -> None:
    optimizer = Optimizer(SPACE, seed=0, preset=preset)
    for _ in range(24):
        trial = optimizer.ask()
        assert set(trial.params) == set(optimizer.space.check(trial.params))
        optimizer.tell(trial, loss(trial.params))
    assert optimizer.best is not None
    assert optimizer.best.params["kind"] == "a"
    assert optimizer.best.value is not None
    assert optimizer.best.value < 0.15


@pytest.mark.parametrize("strategy", ["ei", "kriging-believer", "local-penalization", "thompson"])
def test_every_strategy_stays_in_the_space(strategy: str) -> None:
    optimizer = Optimizer(SPACE, seed=0, n_initial=8, strategy=strategy)
    for _ in range(10):
        trial = optimizer.ask()
        assert trial.params == optimizer.space.check(trial.params)  # which refuses what is not there, or missing
        optimizer.tell(trial, loss(trial.params))


def test_the_first_points_visit_all_branches() -> None:
    optimizer = Optimizer(SPACE, seed=1)
    first = [optimizer.ask().params for _ in range(10)]
    assert {params["kind"] for params in first} == {"a", "b", "c"}
    assert {params["n"] for params in first} == {1, 2, 3}


def test_the_first_points_visit_no_point_twice() -> None:
    space = {"model": Choice(["svm", "forest"]), "C": Real(0, 1, when={"model": "svm"})}
    optimizer = Optimizer(space, n_initial=8, seed=0)
    asked = [repr(optimizer.ask().params) for _ in range(8)]
    assert len(set(asked)) == 8
    assert "{'model': 'forest'}" in asked


def test_a_run_goes_on_from_its_state_with_the_same_choices() -> None:
    optimizer = Optimizer(SPACE, seed=5)
    for _ in range(14):
        optimizer.tell(trial := optimizer.ask(), loss(trial.params))
    other = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    assert other.ask().params == optimizer.ask().params


def test_the_function_is_called_with_what_is_there() -> None:
    calls = []

    def fun(kind, n, **others):  # type: ignore[no-untyped-def]
        calls.append(others)
        return loss({"kind": kind, "n": n, **others})

    result = minimize(fun, SPACE, budget=12, seed=0, executor="threads", workers=1, progress=False)
    assert [{k: v for k, v in trial.params.items() if k not in ("kind", "n")} for trial in result.trials] == calls
    assert any(not others for others in calls) or any("x" not in others for others in calls)


def test_a_function_needs_a_default_for_what_is_not_always_there() -> None:
    with pytest.raises(InvalidInput, match="needs 'x', which does not always exist: give it a default, as in x=None"):
        minimize(lambda kind, n, x, y=None, z=None: 0.0, SPACE, budget=3)


def test_what_is_not_there_cannot_be_observed_and_what_is_must_be() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    optimizer.observe({"kind": "c", "n": 1}, 1.0)
    with pytest.raises(InvalidInput, match=r"x = 0\.5, which exists only when kind is 'a': leave it out"):
        optimizer.observe({"kind": "c", "n": 1, "x": 0.5}, 1.0)
    with pytest.raises(InvalidInput, match="must have a value for 'z'"):
        optimizer.observe({"kind": "c", "n": 2}, 1.0)
    with pytest.raises(InvalidInput, match="leave it out"):
        Optimizer(SPACE, initial=[{"kind": "c", "n": 1, "y": 0.5}])


def test_the_model_is_asked_across_branches() -> None:
    optimizer = Optimizer(SPACE, seed=2)
    for _ in range(16):
        optimizer.tell(trial := optimizer.ask(), loss(trial.params))
    points = [{"kind": "c", "n": 1}, {"kind": "b", "y": 0.2, "n": 3, "z": 0.4}]
    assert optimizer.predict(points).mean.shape == (2,)
    explanation = optimizer.explain({"kind": "c", "n": 1})
    assert set(explanation.influence) == {"kind", "n"}
    frame = optimizer.result().to_pandas()
    absent = np.array(["x" not in trial.params for trial in optimizer.trials])
    np.testing.assert_array_equal(frame["param_x"].isna().to_numpy(), absent)
