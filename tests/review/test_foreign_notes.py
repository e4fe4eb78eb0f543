"""Notes of foreign strategies, in which every entry but the move is up to them: whoever reads one takes it as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from numpy.random import Generator

from aegisbo import Optimizer
from aegisbo.review.payload import facts_of
from aegisbo.review.reasons import predictions
from aegisbo.review.record import record_of
from aegisbo.strategies import Evidence, Suggestion
from aegisbo.strategies.base import Memory


@dataclass(frozen=True)
class Foreign:
    note: dict[str, Any] = field(default_factory=dict)

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        return Suggestion(rng.random(evidence.cube.width), memory, {"move": "foreign", **self.note})


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    ("note", "mean"),
    [({"mean": 2.0}, 2.0), ({"mean": None, "std": 1.0}, None), ({"mean": "low", "std": [1.0, 2.0]}, None)],
)
def test_a_mean_may_be_something_else(note: dict[str, Any], mean: float | None, maximize: bool) -> None:
    pytest.importorskip("pandas")
    optimizer = Optimizer([(0, 1)], strategy=Foreign(note), n_initial=0, maximize=maximize, seed=0)
    for x in (0.1, 0.9):
        optimizer.observe([x], x)
    trial = optimizer.tell(optimizer.ask(), 1.0)
    assert {**trial.note, "mean": None} == {"move": "foreign", **note, "mean": None}
    turned = None if mean is None else -mean if maximize else mean
    assert "by the move foreign\n" in repr(optimizer.explain(trial))
    assert facts_of(record_of(optimizer), {})["trials"]["mean"] == [turned]
    assert predictions(record_of(optimizer)) == ()
    assert optimizer.result().to_pandas()["mean"].dropna().tolist() == ([] if turned is None else [turned])
