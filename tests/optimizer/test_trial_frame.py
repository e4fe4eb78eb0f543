"""Trials as a pandas table and a result as HTML: every cell against the trials, every type as declared."""

from __future__ import annotations

import math
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pandas as pd
import pytest

from aegisbo import Optimizer, Result
from aegisbo.errors import MissingExtra
from aegisbo.outcome import Outcome
from aegisbo.space import Choice, Int, Real

SPACE = {
    "lr": Real(1e-6, 0.1, log=True),
    "units": Int(16, 512),
    "act": Choice(["relu", "<b>tanh</b>"]),
    "size": Choice([3, 1.5, True]),
    "maybe": Choice(["a", None]),
}
BEGAN = 1_700_000_000.25


@pytest.fixture
def result() -> Result:
    """One trial of each kind, with times and without."""
    optimizer = Optimizer(SPACE, strategy="random", seed=2)
    optimizer.observe(optimizer.ask().params, 1.0)
    optimizer.ask(), optimizer.ask(), optimizer.ask()
    optimizer.end(0, Outcome("done", 1 / 3, seconds=2.5, began=BEGAN, worker=1))
    optimizer.fail(1, "<script>alert(1)</script>")
    optimizer.tell(2, math.nan)
    return optimizer.result()


def test_every_row_is_a_trial(result: Result) -> None:
    table = result.to_pandas()
    assert table.index.name == "number"
    assert table.index.tolist() == [0, 1, 2, 3]
    for trial, (number, row) in zip(result.trials, table.iterrows(), strict=True):
        assert (number, row["state"], row["move"], row["reason"]) == (
            trial.number,
            trial.state,
            trial.note["move"],
            trial.reason,
        )
        assert row["value"] == trial.value or (trial.value is None and math.isnan(row["value"]))
        for name, value in trial.params.items():
            assert row[f"param_{name}"] is value or row[f"param_{name}"] == value
    assert table.started_at[0] == pd.Timestamp(BEGAN, unit="s", tz="UTC")
    assert table.ended_at[0] - table.started_at[0] == pd.Timedelta(seconds=2.5)
    assert (table.seconds[0], table.worker[0]) == (2.5, 1)
    assert table.loc[1:, ["started_at", "ended_at", "seconds", "worker", "mean", "std"]].isna().all(axis=None)


def test_predictions_are_those_of_the_notes() -> None:
    optimizer = Optimizer([(-5, 10), (2, 3)], seed=1)
    for _ in range(7):
        optimizer.tell(trial := optimizer.ask(), float(trial.x.sum()))
    table = optimizer.result().to_pandas()
    assert table["mean"].tolist()[4:] == [trial.note["mean"] for trial in optimizer.trials[4:]]
    assert table["std"].tolist()[4:] == [trial.note["std"] for trial in optimizer.trials[4:]]
    assert table["mean"][:4].isna().all()


@pytest.mark.parametrize("empty", [False, True])
def test_types_are_those_of_the_parameters(result: Result, empty: bool) -> None:
    table = (Optimizer(SPACE).result() if empty else result).to_pandas()
    kinds = {name: str(kind) for name, kind in table.dtypes.items()}
    assert kinds["started_at"].startswith("datetime64[")
    assert kinds["ended_at"].endswith(", UTC]")
    assert {name: kind for name, kind in kinds.items() if not name.endswith("ed_at")} == {
        "state": "category",
        "value": "float64",
        "param_lr": "float64",
        "param_units": "int64",
        "param_act": "category",
        "param_size": "category",
        "param_maybe": "object",
        "move": "category",
        "mean": "float64",
        "std": "float64",
        "seconds": "float64",
        "worker": "Int64",
        "reason": "object",
    }
    assert table["param_act"].cat.categories.tolist() == ["relu", "<b>tanh</b>"]
    assert table["param_size"].cat.categories.tolist() == [3, 1.5, True]
    assert len(table) == (0 if empty else 4)


def test_without_pandas_it_says_what_to_install(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install 'aegisbo\[pandas\]'"):
        result.to_pandas()


def test_a_notebook_shows_what_a_terminal_shows_as_text(result: Result) -> None:
    reader = Cells()
    table, _, picture = result._repr_html_().partition("</table>")
    reader.feed(table)
    expected = [part.strip() for line in repr(result).splitlines() for part in line.split(": ", 1)]
    assert "<script>alert(1)</script>" in expected[9]
    assert reader.cells[4:] == expected[4:]
    assert reader.cells[:4] == ["x", ", ".join(f"{name} = {told(value)}" for name, value in result.x.items()),
                                "fun", "0.333333"]  # fmt: skip
    assert reader.tags == {"table", "tr", "th", "td"}
    assert picture.startswith("<svg ")


def told(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_notebook_has_a_picture_of_the_best_so_far(maximize: bool) -> None:
    values, sign = [5.0, 7.0, 3.0, math.nan, 4.0, 1.0, 9.0], -1.0 if maximize else 1.0
    optimizer = Optimizer([(0, 1)], strategy="random", seed=0, maximize=maximize)
    for value in values:
        optimizer.tell(optimizer.ask(), sign * value)
    picture = ElementTree.fromstring(optimizer.result()._repr_html_().partition("</table>")[2])
    names = {"svg": "http://www.w3.org/2000/svg"}
    marks = [
        tuple(float(mark.attrib[each]) for each in ("cx", "cy")) for mark in picture.iterfind(".//svg:circle", names)
    ]
    assert len(marks) == 6  # one failed
    corners = picture.find(".//svg:path", names).attrib["d"]
    start, *steps = re.split("[MHV ]", corners)[1:]
    line = [(float(start), float(steps[0])), *zip(map(float, steps[1::2]), map(float, steps[2::2]), strict=True)]
    heights = [sign * y for _, y in line]  # downwards on the screen
    assert heights == sorted(heights)
    assert [marks[k] for k in (0, 2, 5 - 1)] == [line[k] for k in (0, 2, 5)]  # those that improved lie on it
    assert {text.text for text in picture.iterfind(".//svg:text", names)} == {
        f"{sign * 5:g}",
        f"{sign * 1:g}",
        "best so far in 7 evaluations",
    }


def test_without_a_value_there_is_no_picture() -> None:
    assert "svg" not in Optimizer([(0, 1)]).result()._repr_html_()


class Cells(HTMLParser):
    """The texts of a table, and the tags around them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.cells.append(data)
