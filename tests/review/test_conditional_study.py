"""A study whose parameters are not always there, in every place that shows trials: missing values, and no crash."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from rich.console import Console

from aegisbo import Choice, Int, Real, minimize, plot
from aegisbo.cli.trial_table import trial_tables
from aegisbo.errors import InvalidInput
from aegisbo.review.html import report
from aegisbo.review.record import Record
from aegisbo.study.export import write
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

SPACE = {
    "optimizer": Choice(["adam", "sgd"]),
    "lr": Real(1e-4, 1.0, log=True, when={"optimizer": "adam"}),
    "layers": Int(1, 4),
    "momentum": Real(0, 1, when={"optimizer": "sgd", "layers": ">= 2"}),
}


def loss(optimizer: str, layers: int, lr: float = math.nan, momentum: float = 0.0) -> float:
    value = 0.1 * abs(layers - 3)
    if optimizer == "sgd":
        return value + 0.3 + (momentum - 0.9) ** 2
    if lr > 0.3:
        raise ValueError("diverged")
    return value + (math.log10(lr) + 2) ** 2


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conditional") / "run.db"
    minimize(loss, SPACE, budget=18, seed=4, study=path, executor="threads", workers=1, progress=False)
    return path


@pytest.fixture(scope="module")
def record(study: Path) -> Record:
    return Record.of_study(study)


def test_the_page_has_no_value_where_there_is_none(record: Record) -> None:
    page = report(record)
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: Any = json.loads(found[1])
    (shown,) = data if isinstance(data, list) else data["studies"]
    names = [parameter["name"] for parameter in shown["parameters"]]
    for name, column in zip(names, shown["trials"]["params"], strict=True):
        assert [value is None for value in column] == [name not in trial.params for trial in record.optimizer.trials]
    best = record.result.best
    assert best is not None
    assert [value is None for value in shown["best"]["params"]] == [name not in best.params for name in names]
    assert {each["parameter"] for each in shown["model"]["slices"]} == set(best.params)


@pytest.mark.parametrize("kind", ["slices", "contour", "importance", "convergence", "decision", "reasons", "timeline"])
def test_every_figure_is_drawn(study: Path, kind: str) -> None:
    trial = {"trial": 17} if kind == "decision" else {}
    assert getattr(plot, kind)(study, **trial).axes


def test_a_slice_shows_the_trials_that_have_the_parameter(study: Path, record: Record) -> None:
    trials = record.optimizer.trials
    point = next(trial for trial in trials if "momentum" in trial.params)
    figure = plot.slices(study, point=point.number, parameters=["momentum"])
    axis: Axes = figure.axes[0]
    shown = sum(len(marks.get_offsets()) for marks in axis.collections if len(marks.get_paths()) and marks.get_label())
    assert shown >= sum("momentum" in trial.params and trial.value is not None for trial in trials)
    other = next(trial for trial in trials if "momentum" not in trial.params)
    with pytest.raises(InvalidInput, match=r"momentum does not exist at .*: cut at another point"):
        plot.slices(study, point=other.number, parameters=["momentum"])


def test_tables_leave_it_empty(study: Path, record: Record) -> None:
    out = io.StringIO()
    write(study, "csv", out)
    for row, trial in zip(csv.DictReader(io.StringIO(out.getvalue())), record.optimizer.trials, strict=True):
        there = {name for name in SPACE if row[f"param_{name}"]}
        assert there == set(trial.params)
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(*trial_tables(Record.of_study(study).table, 200))
    text = console.export_text()
    assert re.search(r"\binitial\b.* - ", text)


def test_every_decision_is_made_again(study: Path) -> None:
    assert replay(study).differences == ()
