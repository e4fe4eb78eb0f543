"""Ranks against SciPy's and against the mean over all combinations of runs; ranks from records, and their tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from itertools import product

import numpy as np
import pytest
from aegis_paper.plans import load_plan
from aegis_paper.rankings import DRAWS, Ranking, families_of, ranks_of, read_ranking
from aegis_paper.runs import Cell
from aegis_paper.scores import Curves, Results
from aegis_paper.tables import render
from scipy.stats import rankdata

from aegisbo.arrays import Array

PLAN = load_plan("push")
METHODS = tuple(dict.fromkeys(cell.strategy for cell in PLAN.cells()))


class Made(Results):
    """Results without records."""

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
    lines = render([], [ranking()], "text").splitlines()
    assert "n = 1 instances, runs of each: 2" in " ".join(lines)
    rows = [line.split() for line in lines[lines.index("") + 1 :]]
    assert rows[0] == ["Method", "25", "50", "75", "100", "150", "200"]
    assert [row[0] for row in rows[1:]] == ["AEGiS", "AEGiS-RS", "PLAyBOOK", "LP", "KB", "TS", "Random"]
    assert [row[1:] for row in rows[1:]] == [[f"{rank}.00"] * 6 for rank in range(1, 8)]


def test_latex_has_as_many_columns_as_it_announces() -> None:
    text = render([], [ranking()], "latex")
    assert r"\begin{tabular}{l*{6}{r}}" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 8
    assert {row.count("&") for row in rows} == {6}


def test_csv_has_every_rank_of_every_table_under_one_heading() -> None:
    rows = list(csv.DictReader(StringIO(render([], [ranking(), ranking()], "csv"))))
    assert len(rows) == 2 * 7 * 200
    last = rows[-1]
    assert (last["strategy"], last["evaluations"], last["rank"], last["runs"]) == ("aegis", "200", "1.0", "2")


def average_ranks(instances: Sequence[Sequence[Array]], seed: int = 0) -> Array:
    return ranks_of(instances, seed).mean(axis=0)


def test_one_run_a_method_gives_plain_ranks() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (6, 5, 9)).astype(float)  # instances, methods, budget; with ties
    ranks = ranks_of([[curve[None] for curve in instance] for instance in scores])
    assert ranks == pytest.approx(rankdata(scores, axis=1))


def test_draws_approach_the_mean_over_all_combinations() -> None:
    rng = np.random.default_rng(1)
    instances = [[rng.integers(0, 6, (count, 4)).astype(float) for count in (2, 3, 4)] for _ in range(3)]
    exact = np.mean(
        [np.mean([rankdata(each, axis=0) for each in product(*instance)], axis=0) for instance in instances], axis=0
    )
    error = 4 * 1.0 / np.sqrt(DRAWS * 3)  # a rank among three is at most one from its middle
    assert average_ranks(instances) == pytest.approx(exact, abs=error)
    assert np.abs(average_ranks(instances) - exact).max() > 0


def test_runs_are_drawn_for_each_method_on_its_own() -> None:
    """Paired, the second method would always be ahead by a hair and its rank one."""
    runs = np.arange(20.0)[:, None]
    assert average_ranks([[runs, runs - 0.5]])[:, 0] == pytest.approx([1.525, 1.475], abs=0.07)


def test_equal_seeds_give_equal_ranks_that_sum_to_the_same() -> None:
    rng = np.random.default_rng(2)
    instances = [[rng.normal(size=(5, 7)) for _ in range(4)] for _ in range(2)]
    first = average_ranks(instances, seed=3)
    assert np.array_equal(first, average_ranks(instances, seed=3))
    assert not np.array_equal(first, average_ranks(instances, seed=4))
    assert first.sum(axis=0) == pytest.approx(1 + 2 + 3 + 4)
