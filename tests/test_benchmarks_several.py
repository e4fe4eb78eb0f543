"""The benchmark of several objectives: its score must be COCO's, its fronts exact and its runs paired."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from aegisbo.errors import UnknownName
from benchmarks.problems import best, biobj, fronts
from benchmarks.problems.tables import TABLES, Choice, Int, Table
from benchmarks.rows import append, missing
from benchmarks.several import __main__ as program
from benchmarks.several.report import gaps_by_function
from benchmarks.several.run import Job, Outcome, front_named, perform


@pytest.mark.parametrize("name", ["biobj-f1-i1-d5", "biobj-f26-i7-d5", "biobj-f55-i10-d5"])
def test_the_gap_is_the_one_that_cocos_logger_writes(name: str, tmp_path: Path) -> None:
    pytest.importorskip("cocoex")
    rng, problem = np.random.default_rng(0), biobj.coco_problem(name)
    biobj.observe(problem, str(tmp_path))
    F = np.array([problem(rng.uniform(-5.0, 5.0, 5)) for _ in range(300)])
    problem.free()
    front, told = biobj.biobj(name), [file.read_text("utf-8") for file in tmp_path.rglob("*_hyp.*dat")]
    lines = [line.split() for text in told for line in text.splitlines() if not line.startswith("%")]
    assert len(lines) > 20
    for evaluations, gap, *_ in lines:
        assert front.gap(F[: int(evaluations)]) == pytest.approx(float(gap), abs=1e-11)


@pytest.mark.parametrize("name", ["biobj-f56-i1-d5", "biobj-f1-i11-d5", "bbob-f1-i1-d5"])
def test_a_problem_whose_best_front_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.*f1 to f55, i1 to i10"):
        biobj.numbers_of(name)


def test_the_best_of_2016_is_what_coco_says() -> None:
    reached = [best.reached("best2016", function, 5, 200) for function in biobj.FUNCTIONS]
    assert np.quantile(reached, [0.25, 0.5, 0.75]) == pytest.approx([0.0398, 0.1585, 0.398], rel=0.01)


@pytest.mark.parametrize("m", [2, 3])
def test_hypervolume_is_the_share_of_random_points_that_are_dominated(m: int) -> None:
    rng = np.random.default_rng(m)
    F, drawn = rng.random((12, m)) * 1.3, rng.random((200_000, m))
    dominated = (F[:, None, :] <= drawn).all(axis=2).any(axis=0).mean()
    assert fronts.hypervolume(F, np.ones(m)) == pytest.approx(dominated, abs=0.005)


def optimal(name: str) -> list[np.ndarray]:
    """Points whose values are on the best front, many and evenly spread."""
    if name == "DTLZ2-m3":
        return [np.array([a, b, 0.5, 0.5, 0.5]) for a in np.linspace(0, 1, 25) for b in np.linspace(0, 1, 25)]
    rest = 0.5 if name.startswith("DTLZ2") else 0.0
    return [np.array([first, *[rest] * 4]) for first in np.linspace(0, 1, 801)]


@pytest.mark.parametrize("name", list(fronts.CLOSED))
def test_the_closed_form_is_what_a_dense_front_covers(name: str) -> None:
    front = front_named(name)
    F = np.array([list(front(x).values()) for x in optimal(name)])
    assert 0.0 < front.gap(F) < (0.07 if name == "DTLZ2-m3" else 0.006)
    assert front.gap(F + 0.02) > front.gap(F) + 0.02


def made_up(name: str) -> Table:
    losses, times = np.array([[3.0, 4.0], [1.0, 5.0], [2.0, 6.0]]), np.array([[1.0, 2.0], [5.0, 8.0], [2.0, 9.0]])
    return Table(name, (Int(0, 2), Choice(["a", "b"])), losses, times)


def test_the_gap_of_a_table_is_the_missing_share_of_its_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fronts, "table", made_up)
    front = fronts.trainings("table-made-up/time")  # (1, 5), (2, 2), (3, 1); the reference is (3.2, 5.4)
    assert front([2, "a"]) == {"f1": 2.0, "f2": 2.0}
    values = {x: list(front(x).values()) for x in [(1, "a"), (2, "a"), (0, "a"), (0, "b")]}
    covered = 0.4 * 1.0 + 3.4 * 1.0 + 4.4 * 0.2
    assert front.gap(np.array(list(values.values()))) == pytest.approx(0.0, abs=1e-12)
    assert front.gap(np.array([values[2, "a"]])) == pytest.approx(1 - 1.2 * 3.4 / covered)
    assert front.gap(np.array([values[0, "b"]])) == pytest.approx(1 + 0.8 / 2.2)  # outside, by so much of the box
    with pytest.raises(UnknownName, match="second objective of table-made-up 'size'"):
        fronts.trainings("table-made-up/size")


def test_all_methods_begin_with_the_same_points_and_meet_the_same_times() -> None:
    pytest.importorskip("optuna")
    methods = ("random", "uniform", "optuna-tpe", "optuna-nsga2")
    outcomes = [perform(Job(method, "DTLZ2-m2", 3, 4, 40)) for method in methods]
    assert len({outcome.gap_quarter for outcome in outcomes}) == 1  # after 10 = 2d evaluations
    assert len({outcome.makespan for outcome in outcomes}) == 1
    assert len({outcome.gap for outcome in outcomes}) == len(methods)
    assert all(outcome.gap <= outcome.gap_half <= outcome.gap_quarter for outcome in outcomes)


def test_a_stored_run_is_not_planned_again(tmp_path: Path) -> None:
    done = Outcome("uniform", "ZDT1", 0, 8, 100, *[0.5] * 7)
    append(tmp_path / "several.csv", [done])
    options = argparse.Namespace(
        set="confirm", instances=5, problems=["closed"], seeds=[0], methods=["uniform"], workers=8, budget=None
    )
    planned = program.planned(options)
    assert [job.problem for job in planned] == list(fronts.CLOSED)
    assert set(planned) - {*missing(tmp_path / "several.csv", Outcome, planned)} == {Job("uniform", "ZDT1", 0, 8, 100)}


def test_a_report_has_the_runs_of_others_on_the_same_problems() -> None:
    mine = [Outcome("aegis", "ZDT1", 0, 8, 100, *[0.1] * 7), Outcome("uniform", "ZDT1", 0, 8, 100, *[0.2] * 7)]
    others = [Outcome("uniform", problem, seed, 8, 100, *[0.3] * 7) for problem in ("ZDT1", "ZDT2") for seed in (0, 1)]
    told = {(run.method, run.problem, run.seed): run.gap for run in program.beside(mine, others)}
    assert told == {("uniform", "ZDT1", 0): 0.2, ("uniform", "ZDT1", 1): 0.3, ("aegis", "ZDT1", 0): 0.1}


def test_development_and_confirmation_share_nothing() -> None:
    develop, confirm = (program.groups(program.INSTANCES[each], TABLES[each]) for each in ("develop", "confirm"))
    assert len(confirm["biobj"]) == 5 * 55
    for name in ("biobj", "tables"):
        assert not set(develop[name]) & set(confirm[name])


def test_the_gap_of_a_function_is_the_median_of_its_instances() -> None:
    runs = [
        Outcome("a", f"biobj-f7-i{i}-d5", 0, 8, 200, 0, 0, 0, gap, 0, 0, 0) for i, gap in ((6, 0.4), (7, 0.1), (8, 0.2))
    ]
    assert gaps_by_function(runs) == {7: 0.2}
