"""Tables in three formats from made-up scores; each is read back."""

from __future__ import annotations

import csv
import re
from io import StringIO

import numpy as np
import pytest
from aegis_paper.scores import ScoreTable, by_run
from aegis_paper.tables import number, render

from aegisbo.simulation.problems import names

METHODS = ("random", "kriging-believer", "aegis")


def made(**changes: object) -> ScoreTable:
    """KB clearly worst, AEGiS and Random alike; one cell not run, one with fewer runs."""
    rng = np.random.default_rng(0)
    scores = {}
    for problem in names():
        base = rng.lognormal(size=11)
        for strategy in METHODS:
            values = base * (100 if strategy == "kriging-believer" else rng.lognormal(0, 0.1, 11))
            scores[strategy, problem] = dict(enumerate(values.tolist()))
    scores["random", "Ackley5"] = {}
    scores["aegis", "Branin"] = {run: scores["aegis", "Branin"][run] for run in range(7)}
    fields = {"study": "synthetic", "workers": 8, "preset": "paper", "budget": 200}
    return ScoreTable(**{**fields, "scores": by_run(scores), **changes})


def test_numbers_look_as_in_the_paper() -> None:
    assert [number(value) for value in (5.99e-6, 166.0, 0.0735, 1.31e4)] == [
        "5.99e-06",
        "1.66e+02",
        "7.35e-02",
        "1.31e+04",
    ]


def test_csv_holds_every_median_with_its_runs() -> None:
    table = made()
    rows = list(csv.DictReader(StringIO(render([table, table], [], "csv"))))
    assert len(rows) == 2 * (3 * 15 - 1)
    for row in rows:
        values = table.scores[row["strategy"], row["problem"]].dropna()
        assert int(row["n"]) == len(values)
        assert float(row["median"]) == np.median(values)
        assert float(row["mad"]) == pytest.approx(1.4826 * np.median(np.abs(values - np.median(values))), rel=1e-4)
    assert {row["d"] for row in rows if row["problem"] == "Hartmann6"} == {"6"}
    marks = {(row["strategy"], row["mark"]) for row in rows if row["problem"] == "Rosenbrock7"}
    assert ("kriging-believer", "") in marks
    assert {mark for strategy, mark in marks if strategy != "kriging-believer"} == {"best", "similar"}


def test_csv_names_the_preset_of_each_method() -> None:
    table = made().beside("aegis", made(preset="adaptive"))
    presets = {row["strategy"]: row["preset"] for row in csv.DictReader(StringIO(render([table], [], "csv")))}
    assert presets == dict.fromkeys(METHODS, "paper") | {"AEGiS (adaptive)": "adaptive"}


def text_cells(text: str) -> dict[tuple[str, str], str]:
    """Every cell of the text by method and problem, with its mark."""
    cells = {}
    for block in text.split("\n\n")[1:-1]:
        heading, _, *rows = block.splitlines()
        problems = re.findall(r"(\w+) \(\d+\)", heading)
        for row in rows:
            method, rest = row.split(maxsplit=1)
            values = re.findall(r"–|[*~]?\d\S+ \d\S+", rest)
            cells |= {(method, problem): value for problem, value in zip(problems, values, strict=True)}
    return cells


def test_the_text_holds_what_the_csv_holds() -> None:
    table = made()
    text = render([table], [], "text")
    cells = text_cells(text)
    names_of = {"Random": "random", "KB": "kriging-believer", "AEGiS": "aegis"}
    signs = {"best": "*", "similar": "~", "": ""}
    assert len(cells) == 3 * 15
    for (method, problem), cell in cells.items():
        key = (names_of[method], problem)
        if key == ("random", "Ackley5"):
            assert cell == "–"
        else:
            summary = table.summary.loc[key]
            assert cell == f"{signs[table.marks[key]]}{number(summary['median'])} {number(summary['mad'])}"


def test_the_text_fits_eighty_columns_and_says_how_many_runs() -> None:
    wide = render([made().beside("aegis", made(preset="adaptive"))], [], "text")
    assert max(map(len, wide.splitlines())) <= 80
    text = render([made()], [], "text")
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert "Plan synthetic, 8 workers, preset paper: regret after 200 evaluations." in flat
    assert "n = 7–11 runs" in flat
    assert "paired, one-sided Wilcoxon" in flat
    assert "n = 11, except: AEGiS n = 7 on Branin." in flat
    counts = made().counts
    assert (
        f"of 14 problems that every method has run: {'AEGiS' if counts['aegis'] > counts['random'] else 'Random'}"
        in flat
    )
    assert "mean little" in flat  # seven runs are few


def test_the_reference_is_said_to_be_tested_two_sided() -> None:
    assert "two-sided" in render([made(preset="reference")], [], "text")
    assert ", 1 worker," in render([made(workers=1)], [], "text")


def test_latex_has_five_problems_per_block_and_marks_by_color() -> None:
    table = made()
    text = render([table], [], "latex")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    rows = [line for line in text.splitlines() if r" \\" in line]
    headings = [row for row in rows if "multicolumn" in row]
    assert [re.findall(r"bfseries (\w+) \(", row) for row in headings] == [list(names()[i : i + 5]) for i in (0, 5, 10)]
    assert {row.count("&") for row in rows if "multicolumn" not in row} == {10}
    marks = [mark.value for mark in table.marks.values()]
    assert text.count(r"\best ") == 2 * marks.count("best")
    assert text.count(r"\similar ") == 2 * marks.count("similar")
    assert text.count("-- & --") == 1
    assert text.count("{") == text.count("}")
    median = number(table.summary.loc[("aegis", "Hartmann6"), "median"])
    assert any(row.startswith("AEGiS") and median in row for row in rows)


def test_gamma_is_a_symbol_in_latex() -> None:
    table = made(study="gamma", scores=made().scores[["aegis"]])
    assert "γ" not in render([table], [], "latex")
    scores = {("aegis:gamma=0.1", problem): {0: 1.0} for problem in names()}
    text = render([made(study="gamma", scores=by_run(scores))], [], "latex")
    assert r"$\gamma$ = 0.1 &" in text
