"""Spaces whose every parameter has few values, as tables of choices and levels have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.optimizer import Trial
from aegisbo.space.cube import FEW, Cube

TABLE: dict[str, Any] = {"n": Int(1, 9), "kind": Choice(["a", "b", "c"]), "width": Int(1, 5)}


def value(n: int, kind: str, width: int) -> float:
    return (n - 6.3) ** 2 + {"a": 0.0, "b": 3.0, "c": 1.0}[kind] + 0.3 * n * (width - 2.2) ** 2


def begun(results: int, pending: int = 3, **options: Any) -> Optimizer:
    """Some results, and points under evaluation beside them."""
    optimizer = Optimizer(TABLE, seed=4, **options)
    for _ in range(results):
        trial = optimizer.ask()
        optimizer.tell(trial, value(**trial.params))
    for _ in range(pending):
        optimizer.ask()
    return optimizer


@pytest.mark.parametrize(
    ("space", "first"),
    [
        (TABLE, 4),
        ({**TABLE, "level": Int(1, FEW)}, 5),
        ({**TABLE, "level": Int(1, FEW + 1)}, 8),
        ({**TABLE, "rate": Real(0, 1)}, 8),
    ],
)
def test_a_model_is_asked_as_soon_as_it_can_be_where_all_parameters_have_few_values(space: Any, first: int) -> None:
    optimizer = Optimizer(space, strategy="random", seed=0)
    assert optimizer.settings.n_initial == first
    assert Optimizer(space, n_initial=7).settings.n_initial == 7


@pytest.mark.parametrize(("options", "share"), [({}, 0.1), ({"strategy": "aegis:epsilon=0.6"}, 0.6)])
def test_the_coin_decides_between_improvement_and_exploration(options: dict[str, Any], share: float) -> None:
    optimizer = begun(6, pending=0, **options)
    asked: list[Trial] = []
    for _ in range(40):
        asked.append(optimizer.ask())
        optimizer.tell(asked[-1], value(**asked[-1].params))
    for trial in asked:
        assert (trial.note["move"] == "improve") == (trial.note["coin"] < 1.0 - share)
    assert len({trial.note["move"] for trial in asked}) > 1


def test_the_point_has_the_largest_expected_improvement_beside_pending_ones() -> None:
    """By its definition, at every point that is left."""
    optimizer = begun(8)
    belief, evidence = optimizer.model().belief, optimizer.evidence()
    gp, cube = belief.gp.believing(evidence.pending), evidence.cube
    everywhere = cube.every_point()
    free = everywhere[~(everywhere[:, None] == evidence.taken).all(axis=2).any(axis=1)]
    mean, variance = gp.predict(free)
    best, spread = min(belief.best, float(belief.gp.mean(evidence.pending).min())), np.sqrt(variance)
    z = (best - mean) / spread
    improvement = spread * (z * norm.cdf(z) + norm.pdf(z))
    trial = optimizer.ask()
    assert trial.note["move"] == "improve"
    chosen = (free == as_point(optimizer, cube, trial)).all(axis=1)
    assert improvement[chosen].item() == pytest.approx(improvement.max(), rel=1e-6)


def as_point(optimizer: Optimizer, cube: Cube, trial: Trial) -> Any:
    return cube.round(optimizer.space.to_unit(trial.x)[None, :])[0]


def test_the_paper_exploits_there_too() -> None:
    optimizer = begun(6, pending=0, preset="paper", strategy="aegis:epsilon=0")
    assert optimizer.ask().note["move"] == "exploit"
