"""What runs cost: sums of what was measured, and what follows for runs that were not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from aegis_paper.cost import Projection, measured_seconds, projected, runs_of_the_paper
from aegis_paper.records import Records
from aegis_paper.runs import Spec

from aegisbo.errors import InvalidInput
from aegisbo.simulation.runs import simulate


def spec(**changes: object) -> Spec:
    return Spec(**{"problem": "Branin", "strategy": "random", "preset": "paper", "workers": 2, "budget": 200} | changes)


def test_costs_are_collected_by_strategy_and_dimension(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for of_run, seconds in (
        (spec(), 0.5),
        (spec(run=1), 0.25),
        (spec(run=2), None),
        (spec(problem="SixHumpCamel", workers=3), 0.75),
        (spec(problem="push4#2"), 0.125),
        (spec(problem="Eggholder", budget=20), 7.0),
        (spec(strategy="ei"), 1.5),
        (spec(strategy="ei", preset="reference"), 9.0),
        (spec(strategy="aegis"), None),
    ):
        records.add(replace(simulate(replace(of_run, problem="Branin", strategy="random")), spec=of_run), None, seconds)
    measured = measured_seconds(records, "paper")
    assert {kind: sorted(seconds) for kind, seconds in measured.items()} == {
        ("random", 2): [0.25, 0.5, 0.75],
        ("random", 4): [0.125],
        ("ei", 2): [1.5],
    }
    assert measured_seconds(records, "reference") == {("ei", 2): [9.0]}


def test_the_paper_has_165240_runs() -> None:
    runs = runs_of_the_paper()
    assert sum(runs.values()) == 165_240
    assert runs["ei", 10] == 4 * 51
    assert runs["random", 8] == 2 * 51 * 20 * 3  # XGBoost and push8
    assert runs["aegis:gamma=0.3", 3] == 3 * 51
    # Hartmann3: q = 1, 4, 8, 16 and twice more for the schedules that are the same there.
    assert runs["aegis", 3] == 3 * 4 * 51
    assert runs["aegis-no-ts", 7] == 2 * (4 + 3) * 51  # two functions, with the share 0 of the γ experiment


def test_what_was_not_measured_is_told_from_its_neighbours() -> None:
    measured = {("aegis", 2): [1.0, 3.0], ("aegis", 10): [10.0], ("ei", 2): [4.0]}
    assert projected({("aegis", 2): 7}, measured) == Projection(7, 14.0, 7)
    assert projected({("aegis", 4): 3, ("aegis", 10): 1}, measured) == Projection(4, 3 * 4.0 + 10.0, 1)
    assert projected({("aegis:gamma=0.3", 2): 1}, measured) == Projection(1, 2.0, 0)
    assert projected({("thompson", 2): 1}, measured) == Projection(1, (2.0 + 4.0) / 2, 0)


def test_nothing_measured_is_nothing_told() -> None:
    with pytest.raises(InvalidInput, match="No run of 200 evaluations has been measured"):
        projected({("aegis", 2): 7}, {})
