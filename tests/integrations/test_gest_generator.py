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
        ({"objectives": {"f": "MINIMIZE", "g": "MINIMIZE"}}, "give one to minimize or to maximize"),
        ({"objectives": {"f": "EXPLORE"}}, "give one to minimize or to maximize"),
        ({"constraints": {"g": ["LESS_THAN", 1.0]}}, "return NaN where one is violated"),
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
