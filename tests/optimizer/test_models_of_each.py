"""Asking the model of one of several objectives: beside a run in which that objective is the only number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, NoModel, OneNumber, SeveralObjectives
from aegisbo.optimizer.prediction import Prediction
from aegisbo.review.landscape import models_of, needed_landscape

pytestmark = pytest.mark.long

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}
OBJECTIVES = {"accuracy": "max", "latency": "min"}
POINTS = [{"a": -4.0, "b": 2.9}, {"a": 1.2, "b": 2.1}]


def measured(a: float, b: float) -> dict[str, float]:
    return {"accuracy": 7.0 - (a - 1.0) ** 2 - b, "latency": (a - 3.0) ** 2 + 40.0 * (b - 2.5) ** 2, "size": a + b}


def run(count: int = 12, tell: Callable[[dict[str, float]], Any] = lambda told: told, **options: Any) -> Optimizer:
    """A run that has seen points of a fixed grid, told as `tell` makes them."""
    optimizer = Optimizer(SPACE, **{"seed": 3, "objectives": OBJECTIVES, **options})
    for k in range(count):
        point = {"a": -5.0 + 15.0 * ((0.618 * k) % 1.0), "b": 2.0 + (0.755 * k) % 1.0}
        told = measured(**point)
        optimizer.observe(point, tell(told), measured=told if optimizer.settings.limits else None)
    return optimizer


def alone(name: str, **options: Any) -> Optimizer:
    """The same results for one number."""
    return run(tell=lambda told: told[name], **{"objectives": (), "maximize": name == "accuracy", **options})


def assert_equal(one: Prediction, other: Prediction, rtol: float = 1e-3) -> None:
    for field in fields(one):
        if field.name == "front" and other.front is None:  # one number has no front
            continue
        np.testing.assert_allclose(getattr(one, field.name), getattr(other, field.name), rtol, 1e-9, err_msg=field.name)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("options", [{}, {"limits": ["size <= 3"]}, {"noisy": True}], ids=str)
def test_the_model_of_an_objective_is_that_of_a_run_with_this_number_only(name: str, options: dict[str, Any]) -> None:
    optimizer, single = run(preset="paper", **options), alone(name, preset="paper", **options)
    model, other = optimizer.model(name), single.model()
    assert model.best.number == other.best.number  # type: ignore[union-attr]
    assert_equal(model.predict(POINTS), other.predict(POINTS))
    assert model.belief.best == pytest.approx(other.belief.best, rel=1e-3)
    assert model.predict(POINTS).feasible.min() < 0.9 or "limits" not in options
    explained, expected = (each.explain(POINTS[0], None) for each in (model, other))
    assert explained.nearest.number == expected.nearest.number  # type: ignore[union-attr]
    for parameter, influence in expected.influence.items():
        np.testing.assert_allclose(explained.influence[parameter], influence, rtol=1e-3)


@pytest.mark.parametrize("strategy", ["aegis", "random"])
def test_a_landscape_is_that_of_the_objective(strategy: str) -> None:
    optimizer = run(strategy=strategy)
    for name, maximize in {"accuracy": True, "latency": False}.items():
        found = needed_landscape(optimizer, name)
        assert found.own == (strategy == "aegis")
        assert found.direction.maximize == maximize
        told = [measured(**trial.params)[name] for trial in optimizer.observed]
        (along, _) = found.slices(optimizer.observed[4].params)
        near = np.argmin(np.abs(np.array(along.values) - optimizer.observed[4].params["a"]))
        assert along.predicted.mean[near] == pytest.approx(told[4], abs=0.1 * np.ptp(told))
        assert models_of(optimizer)[name].importances == found.importances
    assert needed_landscape(optimizer, "accuracy").importances[0].parameter == "a"


def test_without_a_name_the_answer_has_each_by_name() -> None:
    optimizer = run()
    for asked in (optimizer, optimizer.result()):
        predictions, explanations = asked.predict(POINTS), asked.explain(-2)
        assert list(predictions) == list(explanations) == list(OBJECTIVES)
        for name in OBJECTIVES:
            assert_equal(predictions[name], asked.predict(POINTS, name), 1e-9)
            assert repr(explanations[name]) == repr(asked.explain(-2, name))
        lines = repr(predictions).split("\n")
        assert lines[0] == "accuracy"
        assert lines[1:3] == repr(predictions["accuracy"]).split("\n")
    assert "observed point 2 (accuracy=" in repr(explanations["accuracy"])
    assert "latency" not in repr(explanations["accuracy"])


def test_an_explanation_says_what_was_predicted_of_the_objective_and_by_whom() -> None:
    optimizer = run(n_initial=0)
    trial = optimizer.ask()
    text = repr(optimizer.explain(trial, "latency"))
    assert f"when {trial.note['mean']['latency']:.6g} ± " in text
    assert f"when {trial.note['mean']['accuracy']:.6g} ± " in repr(optimizer.explain(trial.number)["accuracy"])


def test_without_a_model_every_explanation_says_why() -> None:
    optimizer = run(2)
    assert set(optimizer.explain(-1)) == set(OBJECTIVES)
    for told in (*optimizer.explain(-1).values(), optimizer.explain(-1, "latency")):
        assert told.prediction is None
        assert "There is no model yet: it takes 3 values" in repr(told)
    with pytest.raises(NoModel):
        optimizer.predict(POINTS)
    assert models_of(optimizer) == {}


ASKED = [
    *(lambda run, name: run.model(name), lambda run, name: needed_landscape(run, name)),
    *(lambda run, name: run.predict(POINTS, name), lambda run, name: run.explain(POINTS[0], name)),
]


@pytest.mark.parametrize("ask", ASKED)
def test_a_name_that_says_nothing_is_refused(ask: Callable[[Optimizer, Any], Any]) -> None:
    several, single = run(), alone("latency")
    with pytest.raises(InvalidInput, match=r"Unknown objective 'latencyy': did you mean 'latency'\?"):
        ask(several, "latencyy")
    with pytest.raises(InvalidInput, match="Unknown objective 7: known: accuracy, latency"):
        ask(several, 7)
    with pytest.raises(OneNumber, match="one number and not several objectives, so there is no 'latency': leave it"):
        ask(single, "latency")


@pytest.mark.parametrize("ask", ASKED[:2])
def test_which_objective_is_meant_must_be_said(ask: Callable[[Optimizer, Any], Any]) -> None:
    with pytest.raises(SeveralObjectives, match="say which one is meant, objective='accuracy' or objective='latency'"):
        ask(run(), None)


@pytest.mark.parametrize(
    "options", [{}, {"limits": ["size <= 9"]}, {"limits": ["size <= -9"]}, {"noisy": True}], ids=str
)
@pytest.mark.parametrize("third", [(), ("size",)])
def test_the_chance_to_join_the_front_is_that_of_many_draws(options: dict[str, Any], third: tuple[str, ...]) -> None:
    objectives = {**OBJECTIVES, **dict.fromkeys(third, "min")}
    optimizer = run(objectives=objectives, **options)
    trial = optimizer.ask()
    optimizer.fail(trial, "broke")
    points = [{"a": a, "b": b} for a, b in ((0.0, 2.2), (2.3, 2.45), (2.0, 2.02), (9.0, 2.9), (-4.0, 2.2))]
    points.append(trial.params)
    found = optimizer.predict(points)
    models = [optimizer.model(name) for name in objectives]
    U = np.array([optimizer.space.to_unit(point) for point in points])
    told = [model.belief.exploring for model in models]
    kept = optimizer.evidence().kept
    X, y = optimizer.evidence().X[kept], optimizer.evidence().y[kept]
    F = np.stack(
        [
            belief.gp.mean(X) if options.get("noisy") else belief.scale.standardized(y[:, j])
            for j, belief in enumerate(told)
        ],
        axis=1,
    )
    mu, sd = (np.stack(each, axis=1) for each in zip(*(belief.predict(U) for belief in told), strict=True))
    drawn = mu + sd * np.random.default_rng(1).standard_normal((20_000, *mu.shape))  # (draws, points, objectives)
    dominated = np.any([(row <= drawn).all(axis=2) & (row < drawn).any(axis=2) for row in F] or [np.zeros(1)], axis=0)
    expected = (1.0 - dominated.mean(axis=0)) * found["latency"].success * found["latency"].feasible
    np.testing.assert_allclose(found["latency"].front, expected, atol=0.015)
    assert np.array_equal(found["latency"].front, found["accuracy"].front)
    assert found["latency"].success[-1] < 0.5
    assert f"to join the front {found['latency'].front[0]:.1%}" in repr(found["latency"])
    text = repr(optimizer.explain(points[0], "latency"))
    assert f"front: {found['latency'].front[0]:.1%} that it joins the front" in text


def test_a_known_objective_decides_with_certainty_whether_a_point_joins_the_front() -> None:
    objectives: dict[str, Any] = {"size": ("min", lambda a: a), "weight": "min"}
    optimizer = Optimizer(SPACE, objectives=objectives, seed=0)
    for a in (-2.0, 0.0, 4.0, 9.0):
        optimizer.observe({"a": a, "b": 2.5}, {"weight": 1.0})
    joins = optimizer.predict([{"a": -5.0, "b": 2.1}, {"a": 1.0, "b": 2.1}])["size"].front
    better = optimizer.predict({"a": 1.0, "b": 2.1})["weight"].chance  # than 1.0, which is what is needed there
    np.testing.assert_allclose(joins, [1.0, better], atol=1e-9)


def test_there_is_no_front_to_join_with_one_number() -> None:
    told = alone("latency").predict(POINTS)
    assert told.front is None
    assert told.at(1).front is None
    assert "front" not in repr(told)
