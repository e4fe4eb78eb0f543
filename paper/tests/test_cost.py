"""What runs cost: sums of what was measured, and what follows for runs that were not."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from aegis_paper.cost import Projection, measure, projected, runs_of_the_paper
from aegis_paper.records import Records
from made_up import record

from aegisbo.errors import InvalidInput


def test_costs_are_collected_by_strategy_and_dimension(tmp_path: Path) -> None:
    records = Records(tmp_path / "records.sqlite")
    for run, seconds in (
        ({}, 0.5),
        ({"run": 1}, 0.25),
        ({"run": 2}, None),
        ({"problem": "SixHumpCamel", "workers": 3}, 0.75),
        ({"problem": "push4#2"}, 0.125),
        ({"problem": "Eggholder", "budget": 20}, 7.0),
        ({"strategy": "ei"}, 1.5),
        ({"strategy": "ei", "preset": "reference"}, 9.0),
        ({"strategy": "aegis"}, None),
    ):
        records.add(record(**{"strategy": "random", "budget": 200} | run), {}, seconds)
    assert measure(records, "paper").seconds.to_dict() == {
        ("random", 2): (0.25 + 0.5 + 0.75) / 3,
        ("random", 4): 0.125,
        ("ei", 2): 1.5,
    }
    assert measure(records, "reference").seconds.to_dict() == {("ei", 2): 9.0}


def test_costs_are_those_of_one_processor(tmp_path: Path) -> None:
    """The slow one takes twice as long at all that both have run, except for one run that something else disturbed."""
    records = Records(tmp_path / "records.sqlite")
    fast = {"ei": 1.0, "aegis": 3.0, "thompson": 5.0}
    slow = {"ei": 2.0, "aegis": 6.0, "thompson": 100.0, "aegis-rs": 8.0}
    for cpu, costs, runs in (("fast", fast, (0, 1)), ("slow", slow, (2,))):
        for strategy, run in product(costs, runs):
            records.add(record(strategy=strategy, budget=200, run=run), {"cpu": cpu}, costs[strategy])
    measured = measure(records, "paper")
    assert measured.processor == "fast"
    assert measured.slower == {"slow": 2.0}
    assert measured.seconds.to_dict() == {
        ("ei", 2): 1.0,
        ("aegis", 2): 3.0,
        ("thompson", 2): (5.0 + 5.0 + 50.0) / 3,
        ("aegis-rs", 2): 4.0,
    }


def means(**seconds: float) -> pd.Series:
    """Mean costs by strategy and dimension: aegis_2=1.0 is AEGiS with two coordinates."""
    kinds = [(name.rpartition("_")[0], int(name.rpartition("_")[2])) for name in seconds]
    index = pd.MultiIndex.from_tuples(kinds, names=["strategy", "d"])
    return pd.Series([*seconds.values()], index)


def test_the_paper_has_165240_runs() -> None:
    runs = runs_of_the_paper()
    assert sum(runs.values()) == 165_240
    assert runs["ei", 10] == 4 * 51
    assert runs["random", 8] == 2 * 51 * 20 * 3  # XGBoost and push8
    assert runs["aegis:gamma=0.3", 3] == 3 * 51
    # Hartmann3: q = 1, 4, 8, 16 and twice more for the schedules that are the same there.
    assert runs["aegis", 3] == 3 * 4 * 51
    assert runs["aegis-no-ts", 7] == 2 * (4 + 3) * 51  # two functions, with the share 0 of the γ experiment


def test_what_was_not_measured_is_told_from_its_neighbors() -> None:
    measured = means(aegis_2=2.0, aegis_10=10.0, ei_2=4.0)
    assert projected({("aegis", 2): 7}, measured) == Projection(7, 14.0, 7)
    assert projected({("aegis", 4): 3, ("aegis", 10): 1}, measured) == Projection(4, 3 * 4.0 + 10.0, 1)
    assert projected({("aegis:gamma=0.3", 2): 1}, measured) == Projection(1, 2.0, 0)
    assert projected({("thompson", 2): 1}, measured) == Projection(1, (2.0 + 4.0) / 2, 0)


def test_nothing_measured_is_nothing_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No run of 200 evaluations has been measured"):
        measure(Records(tmp_path / "none.sqlite"), "paper")
