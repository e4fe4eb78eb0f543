"""The generator of gest-api: ids, order, results from elsewhere, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

import aegisbo
from aegisbo.errors import InvalidInput

pytest.importorskip("gest_api")

from gest_api.generator import Generator
from gest_api.vocs import VOCS

from aegisbo.integrations import AegisGenerator

VARIABLES: dict[str, Any] = {"x": [-5.0, 10.0], "y": [2.0, 3.0], "act": {"relu", "tanh"}}


def vocs(**more: Any) -> VOCS:
    return VOCS(**{"variables": dict(VARIABLES), "objectives": {"f": "MINIMIZE"}, "constants": {"c": 7.0}, **more})


def value(point: dict[str, Any]) -> float:
    return float((point["x"] - 3) ** 2 + point["y"] + (point["act"] == "tanh"))


def test_it_suggests_what_the_optimizer_would_and_learns_by_id_in_any_order() -> None:
    generator = AegisGenerator(vocs(), seed=1, n_initial=4)
    space = {"x": (-5.0, 10.0), "y": (2.0, 3.0), "act": aegisbo.Choice(["relu", "tanh"])}
    twin = aegisbo.Optimizer(space, seed=1, n_initial=4)
    assert isinstance(generator, Generator)
    assert generator.returns_id
    for _ in range(4):
        points = generator.suggest(3)
        trials = [twin.ask() for _ in points]
        assert points == [{**trial.params, "c": 7.0, "_id": trial.number} for trial in trials]
        for point in reversed(points):
            generator.ingest([{**point, "f": value(point)}])
            twin.tell(point["_id"], value(point))
    assert generator.optimizer.best.value == twin.best.value  # type: ignore[union-attr]
    assert len(generator.suggest()) == 1
    generator.finalize()


def test_results_from_elsewhere_failures_and_maximization() -> None:
    generator = AegisGenerator(vocs(objectives={"f": "MAXIMIZE"}), seed=1)
    generator.ingest([{"x": 1.0, "y": 2.5, "act": "tanh", "c": 7.0, "f": 4.0}])
    (point,) = generator.suggest(1)
    generator.ingest([{**point, "f": math.nan}])
    (other,) = generator.suggest(1)
    generator.ingest([{**other, "f": 3.0}])
    assert [trial.state for trial in generator.optimizer.trials] == ["invalid", "done"]
    assert generator.optimizer.best.value == 4.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"objectives": {}}, r"The objectives are \[\]: give one to 4, each to minimize or to maximize"),
        ({"objectives": dict.fromkeys("fghij", "MINIMIZE")}, "give one to 4, each to minimize or to maximize"),
        ({"objectives": {"f": "EXPLORE"}}, "give one to 4, each to minimize or to maximize"),
        ({"objectives": {"f": "MINIMIZE", "g": "EXPLORE"}}, "give one to 4, each to minimize or to maximize"),
        ({"objectives": {"f": "MINIMIZE", "x": "MINIMIZE"}}, "objective 'x' has the name of a parameter"),
        ({"variables": {"x": "CONTEXTUAL"}}, "A variable is a ContextualVariable: give it bounds"),
    ],
)
def test_what_it_cannot_do_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AegisGenerator(vocs(**more))


def test_an_unknown_id_and_an_exhausted_space_are_value_errors() -> None:
    generator = AegisGenerator(VOCS(variables={"k": {1, 2, 3}}, objectives={"f": "MINIMIZE"}), seed=1)
    with pytest.raises(InvalidInput, match="_id 5 was never suggested here"):
        generator.ingest([{"k": 1, "f": 1.0, "_id": 5}])
    assert {point["k"] for point in generator.suggest(3)} == {1, 2, 3}
    with pytest.raises(ValueError, match="evaluated"):
        generator.suggest(1)


def test_constraints_are_limits_on_what_results_tell() -> None:
    limits = {"g": ["LESS_THAN", 1.0], "h": ["GREATER_THAN", -2.5], "k": ["BOUNDS", 0.0, 4.0]}
    generator = AegisGenerator(vocs(constraints=limits), seed=1, n_initial=2)
    twin = aegisbo.Optimizer(
        {"x": (-5.0, 10.0), "y": (2.0, 3.0), "act": aegisbo.Choice(["relu", "tanh"])},
        seed=1, n_initial=2, limits=["g <= 1", "h >= -2.5", "k >= 0", "k <= 4"],
    )  # fmt: skip
    for _ in range(6):
        (point,), trial = generator.suggest(), twin.ask()
        assert {name: point[name] for name in VARIABLES} == trial.params
        measured = {"g": point["x"], "h": -point["y"], "k": 2.0}
        generator.ingest([{**point, "f": value(point), **measured}])
        twin.tell(trial, value(point), measured=measured)
    assert generator.optimizer.best == twin.best
    assert generator.optimizer.best.measured["g"] <= 1.0
    (point,) = generator.suggest()
    generator.ingest([{**point, "f": 0.0, "g": 0.0, "h": 0.0}])
    assert generator.optimizer.trials[-1].state == "invalid"
    generator.ingest([{"x": 0.5, "y": 2.5, "act": "relu", "f": -9.0, "g": 0.5, "h": 0.0, "k": 1.0}])
    assert generator.optimizer.best.value == -9.0


def measured(point: dict[str, Any]) -> dict[str, float]:
    return {"f": value(point), "g": point["y"] - abs(point["x"]), "h": point["x"]}


@pytest.mark.long
@pytest.mark.parametrize("names", ["fg", "fgh"])
def test_several_objectives_are_told_by_name_and_have_a_front(names: str) -> None:
    goals = {name: "MAXIMIZE" if name == "g" else "MINIMIZE" for name in names}
    generator = AegisGenerator(vocs(objectives=goals, constraints={"h": ["LESS_THAN", 4.0]}), seed=1, n_initial=4)
    twin = aegisbo.Optimizer(
        {"x": (-5.0, 10.0), "y": (2.0, 3.0), "act": aegisbo.Choice(["relu", "tanh"])}, seed=1, n_initial=4,
        limits=["h <= 4"], objectives={name: "max" if name == "g" else "min" for name in names},
    )  # fmt: skip
    results = []
    for _ in range(5):
        points, trials = generator.suggest(2), [twin.ask() for _ in range(2)]
        assert points == [{**trial.params, "c": 7.0, "_id": trial.number} for trial in trials]
        for point, trial in zip(reversed(points), reversed(trials), strict=True):
            results.append({**point, **measured(point)})
            generator.ingest(results[-1:])
            twin.tell(trial, measured(point))
    front = generator.optimizer.result().front
    assert [trial.number for trial in front] == [trial.number for trial in twin.result().front]
    kept = {
        each["_id"]: [each[name] * (-1 if name == "g" else 1) for name in names] for each in results if each["h"] <= 4
    }
    beaten = {
        number
        for number, mine in kept.items()
        if any(all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in kept.values())
    }
    assert {trial.number for trial in front} == set(kept) - beaten


def test_a_result_that_lacks_one_of_several_objectives_has_failed() -> None:
    generator = AegisGenerator(vocs(objectives={"f": "MINIMIZE", "g": "MAXIMIZE"}), seed=1)
    one, two, three = generator.suggest(3)
    generator.ingest([{**one, "f": 1.0}, {**two, "f": 1.0, "g": math.nan}, {**three, "f": 1.0, "g": 2.0}])
    generator.ingest([{"x": 1.0, "y": 2.5, "act": "tanh", "f": 0.5, "g": 1.0}])
    assert [trial.state for trial in generator.optimizer.trials] == ["invalid", "invalid", "done"]
    assert "did not measure g" in generator.optimizer.trials[0].reason
    assert [trial.number for trial in generator.optimizer.result().front] == [-1, 2]
