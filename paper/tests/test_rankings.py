"""Ranks on families of problems from records, and their tables."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np
import pytest
from aegis_paper import rank_tables
from aegis_paper.plan import load_plan
from aegis_paper.rankings import Ranking, families_of, read_ranking
from aegis_paper.records import Cell
from aegis_paper.results import Curves, Results
from scipy.stats import rankdata

from aegisbo.arrays import Array

PLAN = load_plan("push")
METHODS = tuple(dict.fromkeys(cell.strategy for cell in PLAN.cells()))


class Made(Results):
    """Results without a folder."""

    def __init__(self, scores: dict[Cell, Array]) -> None:
        self.scores = scores

    def curves(self, cell: Cell) -> Curves:
        return dict(enumerate(self.scores.get(cell, ())))


def cell(instance: int, strategy: str, workers: int = 4) -> Cell:
    return Cell(f"push4#{instance}", strategy, "paper", workers)


def ranking() -> Ranking:
    """Seven methods, of which number m has the constant rank 7 − m."""
    scores = {cell(1, each): np.full((2, 200), 7.0 - m) for m, each in enumerate(METHODS)}
    found = read_ranking(Made(scores), PLAN, "push4", 4, "paper")
    assert found is not None
    return found


def test_families() -> None:
    assert families_of(PLAN) == ("push4", "push8")
    assert families_of(load_plan("synthetic")) == ()


def test_only_instances_that_every_method_has_run_count() -> None:
    rng = np.random.default_rng(0)
    scores = {cell(instance, each): rng.normal(size=(1, 200)) for instance in (2, 5, 9) for each in METHODS}
    scores[cell(5, "aegis")] = np.empty((0, 200))
    scores[cell(9, "random")] = np.repeat(scores[cell(9, "random")], 3, axis=0)
    found = read_ranking(Made(scores), PLAN, "push4", 4, "paper")
    assert found is not None
    expected = [rankdata([scores[cell(i, each)][0] for each in METHODS], axis=0) for i in (2, 9)]
    assert found.ranks == pytest.approx(np.mean(expected, axis=0))
    assert (found.instances, found.repeats) == (2, (1, 3))
    assert found.of("aegis") == pytest.approx(np.mean(expected, axis=0)[METHODS.index("aegis")])
    assert read_ranking(Made(scores), PLAN, "push4", 8, "paper") is None
    assert read_ranking(Made(scores), PLAN, "push8", 4, "paper") is None


def test_the_text_has_the_best_first_and_says_how_many_runs() -> None:
    lines = rank_tables.render([ranking()], "text").splitlines()
    assert "n = 1 instances, runs of each: 2" in " ".join(lines)
    rows = [line.split() for line in lines[lines.index("") + 1 :]]
    assert rows[0] == ["Method", "25", "50", "75", "100", "150", "200"]
    assert [row[0] for row in rows[1:]] == ["AEGiS", "AEGiS-RS", "PLAyBOOK", "LP", "KB", "TS", "Random"]
    assert [row[1:] for row in rows[1:]] == [[f"{rank}.00"] * 6 for rank in range(1, 8)]


def test_latex_has_as_many_columns_as_it_announces() -> None:
    text = rank_tables.render([ranking()], "latex")
    assert r"\begin{tabular}{l*{6}{r}}" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 8
    assert {row.count("&") for row in rows} == {6}


def test_csv_has_every_rank_of_every_table_under_one_heading() -> None:
    rows = list(csv.DictReader(StringIO(rank_tables.render([ranking(), ranking()], "csv"))))
    assert len(rows) == 2 * 7 * 200
    last = rows[-1]
    assert (last["strategy"], last["evaluations"], last["rank"], last["runs"]) == ("aegis", "200", "1.0", "2")
