"""Objectives that follow from the point: asked in every move, and nothing is modelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Choice, Int, Optimizer, Real, load, minimize
from aegisbo.errors import InvalidInput
from aegisbo.review.landscape import needed_landscape
from aegisbo.strategies.exact import Exact, exact_of
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}


def size_of(a: float, b: float) -> float:
    return float(np.exp(0.3 * a) * b)


OBJECTIVES: dict[str, Any] = {"loss": "max", "size": ("min", size_of)}


def loss(a: float, b: float, **rest: Any) -> float:
    return -((a - 8.0) ** 2) - 10.0 * (b - 2.2) ** 2


def told(optimizer: Optimizer, count: int = 12) -> Optimizer:
    for u in np.random.default_rng(2).random((count, optimizer.space.cube.parameters)):
        point = optimizer.space.params(optimizer.space.cube.fill(u[None])[0])
        optimizer.observe(point, {"loss": loss(**point)})
    return optimizer


def exact(optimizer: Optimizer) -> Exact:
    found = exact_of(optimizer.evidence())[1]
    assert found is not None
    return found


@pytest.mark.parametrize("direction", ["min", "max"])
def test_its_values_and_slopes_are_those_of_the_function(direction: str) -> None:
    belief = exact(told(Optimizer(SPACE, objectives={"loss": "max", "size": (direction, size_of)}, seed=0)))
    sign = -1.0 if direction == "max" else 1.0
    U = np.array([[0.1, 0.7], [0.4, 0.2], [1.0, 1.0], [0.0, 0.0], [0.3, 0.9]])
    a, b = -5.0 + 15.0 * U[:, 0], 2.0 + U[:, 1]
    values = sign * np.exp(0.3 * a) * b
    np.testing.assert_allclose(belief.smoothed(U), values, rtol=1e-9)
    assert not belief.predict(U)[1].any()
    expected = values[:, None] * np.stack([np.full(5, 0.3 * 15.0), 1.0 / b], axis=1)
    expected *= np.exp(belief.scale.log_slope(values))[:, None]
    standardized, slopes = belief.gp.mean_and_gradient(U)
    np.testing.assert_allclose(standardized, belief.scale.standardized(values), rtol=1e-9)
    np.testing.assert_allclose(slopes, expected, rtol=1e-4)


def test_levels_choices_and_conditions_reach_the_function_as_in_an_evaluation() -> None:
    seen: list[dict[str, Any]] = []

    def price(units: int, kind: str, slope: float = 0.0) -> float:
        seen.append({"units": units, "kind": kind, "slope": slope})
        return units * (2.0 if kind == "thick" else 1.0) + slope

    space = {"units": Int(1, 9), "kind": Choice(["thin", "thick"]), "slope": Real(1.0, 2.0, when={"kind": "thick"})}
    optimizer = Optimizer(space, objectives={"loss": "min", "price": ("min", price)}, seed=0)
    points = [{"units": 3, "kind": "thin"}, {"units": 7, "kind": "thick", "slope": 1.5}]
    for k, point in enumerate(points * 4):
        optimizer.observe({**point, "units": k + 1}, {"loss": float(k % 3)})
    belief, seen[:] = exact(optimizer), []
    Z = np.array([optimizer.space.to_unit(point) for point in points])
    np.testing.assert_allclose(belief.smoothed(Z), [3.0, 15.5])
    assert seen == [{**points[0], "slope": 0.0}, points[1]]
    assert all(type(point["units"]) is int for point in seen)
    _, slopes = belief.gp.mean_and_gradient(Z)
    assert np.flatnonzero(slopes[0]).tolist() == []  # its slope does not exist there
    assert np.flatnonzero(slopes[1]).tolist() == [3]


@pytest.mark.parametrize("preset", ["adaptive", "paper"])
def test_every_move_expects_exactly_its_value_and_no_model_of_it_is_learned(preset: str) -> None:
    optimizer = told(Optimizer(SPACE, objectives=OBJECTIVES, seed=0, n_initial=0, preset=preset))
    moves = set()
    for _ in range(14):
        trial = optimizer.ask()
        moves.add(trial.note["move"])
        assert trial.note["mean"]["size"] == pytest.approx(size_of(**trial.params), rel=1e-9)
        assert trial.note["std"]["size"] == 0.0
        assert trial.note["std"]["loss"] > 0.0
    assert {"exploit", "thompson", "pareto"} <= moves
    assert list(optimizer.memory["objectives"]) == ["0"]


def test_exploiting_finds_the_hidden_valley_of_a_known_objective() -> None:
    """No result lies in it, so that no model could know of it."""

    def dented(a: float, b: float) -> float:
        return 5.0 + abs(a) - 50.0 * float(np.exp(-(((a + 3.3) / 0.3) ** 2)))

    optimizer = Optimizer(SPACE, objectives={"loss": "min", "size": ("min", dented)}, seed=0, n_initial=0)
    for a in (-5.0, -2.0, 0.0, 2.0, 5.0, 8.0):
        optimizer.observe({"a": a, "b": 2.0 + 0.1 * abs(a)}, {"loss": a})
    trial = optimizer.ask()
    assert trial.note["move"] == "exploit"
    assert trial.params["a"] == pytest.approx(-3.3, abs=0.3)


def no_size(a: float, b: float) -> float:
    if a > 4.0:
        raise ValueError("too wide")
    return float("nan") if a > 2.0 else size_of(a, b)


@pytest.mark.parametrize("known", [True, False])
def test_points_where_it_has_no_value_are_avoided(known: bool) -> None:
    """The best losses lie where there is no size."""
    objectives: dict[str, Any] = {"loss": "max", "size": ("min", no_size) if known else "min"}
    optimizer = Optimizer(SPACE, objectives=objectives, seed=1, n_initial=0)
    for a in (-5.0, -3.0, -1.5, 0.0, 1.0, 1.9):
        point = {"a": a, "b": 2.0 + abs(a) / 10.0}
        optimizer.observe(point, {"loss": loss(**point), "size": size_of(**point)})
    chosen = [optimizer.ask().params["a"] for _ in range(12)]
    assert (max(chosen) <= 2.0) == known


def test_questions_about_it_are_answered_exactly() -> None:
    for strategy in ("aegis", "random"):
        optimizer = told(Optimizer(SPACE, objectives=OBJECTIVES, seed=0, strategy=strategy))
        landscape = needed_landscape(optimizer, "size")
        (along, _) = landscape.slices({"a": 1.0, "b": 2.5})
        np.testing.assert_allclose(along.predicted.mean, [size_of(a, 2.5) for a in along.values], rtol=1e-9)
        assert not np.any(along.predicted.std)
        assert landscape.left_out == ()
        assert landscape.importances[0].parameter == "a"
    found = told(Optimizer(SPACE, objectives=OBJECTIVES, seed=0)).predict([{"a": 1.0, "b": 2.5}, {"a": -5.0, "b": 2.0}])
    np.testing.assert_allclose(found["size"].mean, [size_of(1.0, 2.5), size_of(-5.0, 2.0)], rtol=1e-9)
    assert found["size"].std.tolist() == [0.0, 0.0]
    assert found["size"].chance.tolist() == [0.0, 1.0]  # the corner is the best there is
    explained = told(Optimizer(SPACE, objectives=OBJECTIVES, seed=0)).explain({"a": 1.0, "b": 2.5}, "size")
    assert explained.nearest is None


def test_a_study_is_continued_and_replayed_with_the_function_and_read_without(tmp_path: Path) -> None:
    def run(budget: int, file: Path) -> list[Any]:
        def measure(a: float, b: float) -> dict[str, float]:
            return {"loss": loss(a, b)}

        options: dict[str, Any] = {"objectives": OBJECTIVES, "seed": 5, "executor": "serial"}
        return [trial.params for trial in minimize(measure, SPACE, budget=budget, study=file, **options).trials]

    run(8, tmp_path / "stopped.db")
    points = run(11, tmp_path / "stopped.db")
    assert points == run(11, tmp_path / "whole.db")
    assert replay(tmp_path / "whole.db", objectives=OBJECTIVES).faithful
    with pytest.raises(InvalidInput, match=r"made with the objective size_of\(\), a function .* pass it again"):
        replay(tmp_path / "whole.db")
    prediction = load(tmp_path / "whole.db").predict({"a": 1.0, "b": 2.5})["size"]  # by a model, for want of it
    assert prediction.std > 0.0
    assert prediction.low < size_of(1.0, 2.5) < prediction.high
