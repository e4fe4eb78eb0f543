"""The paper's tables as they stand in the package."""

from __future__ import annotations

import pytest
from aegis_paper.published import RUNS, STRATEGIES, paper_name, published, published_counts, published_table
from aegis_paper.statistics import Mark

from aegisbo.simulation.problems import names
from aegisbo.strategies.registry import resolve

# Methods and numbers of workers of the paper's fifteen tables, read from the paper.
TABLES = {"sequential": [(1, 5)], "synthetic": [(4, 7), (8, 7), (16, 7)], "gamma": [(4, 11), (8, 11), (16, 11)]} | {
    study: [(workers, methods) for workers in (1, 4, 8, 16)] for study, methods in (("ablation", 4), ("epsilon", 3))
}


def test_every_table_is_complete() -> None:
    assert len(published()) == 1305
    for study, tables in TABLES.items():
        for workers, methods in tables:
            table = published_table(study, workers)
            strategies = dict.fromkeys(strategy for strategy, _ in table)
            assert len(strategies) == methods
            assert list(table) == [
                (s, p) for block in (0, 5, 10) for s in strategies for p in names()[block : block + 5]
            ]
    assert published_table("gamma", 1) == {}


def test_some_cells_as_printed() -> None:
    cell = published_table("synthetic", 8)["aegis", "Branin"]
    assert (cell.median, cell.mad, cell.mark) == (5.32e-6, 6.51e-6, Mark.BEST)
    cell = published_table("synthetic", 4)["kriging-believer", "GoldsteinPrice"]
    assert (cell.median, cell.mad, cell.mark) == (1.01, 1.13, Mark.EQUIVALENT)
    assert published_table("ablation", 8)["aegis-no-pf", "Branin"].median == 7.73e-4
    assert published_table("gamma", 8)["aegis-no-pf", "Branin"].median == 3.87e-3


def test_one_best_method_a_problem_and_it_has_the_lowest_median() -> None:
    for study, tables in TABLES.items():
        for workers, _ in tables:
            table = published_table(study, workers)
            for problem in names():
                column = [cell for cell in table.values() if cell.problem == problem]
                (best,) = (cell for cell in column if cell.mark is Mark.BEST)
                assert best.median == min(cell.median for cell in column)


def test_aegis_has_the_same_numbers_in_every_table() -> None:
    seen: dict[tuple[int, str], set[tuple[float, float]]] = {}
    for cell in published():
        if cell.strategy == "aegis":
            seen.setdefault((cell.workers, cell.problem), set()).add((cell.median, cell.mad))
    assert {len(values) for values in seen.values()} == {1}


def test_the_count_that_the_paper_names() -> None:
    """Section 5.1: AEGiS is the best or equivalent to the best on 10 of the 15 functions."""
    counts = [published_counts("synthetic", q) for q in (4, 8, 16)]
    assert [count["aegis"] for count in counts] == [11, 11, 10]
    assert all(max(count, key=count.__getitem__) == "aegis" for count in counts)


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES.values())))
def test_every_method_is_a_strategy(strategy: str) -> None:
    resolve(strategy, "paper")


def test_names() -> None:
    assert RUNS == 51
    assert paper_name("kriging-believer", "synthetic") == "KB"
    assert paper_name("aegis-no-ts", "ablation") == "No TS"
    assert paper_name("aegis-no-ts", "gamma") == "γ = 0.0"
    assert paper_name("aegis:gamma=0.1", "gamma") == "γ = 0.1"
    assert paper_name("aegis", "gamma") == "AEGiS"
    assert paper_name("aegis:epsilon=faster", "epsilon") == "Faster"
    assert paper_name("playbook", "instances") == "PLAyBOOK"
    assert paper_name("aegis:gamma=0.25", "gamma") == "aegis:gamma=0.25"
