"""The benchmark of stopping early: its curves, what it counts, and its report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegisbo.errors import AegisError
from benchmarks.curves import __main__ as program
from benchmarks.curves import run as runs
from benchmarks.curves.report import print_report
from benchmarks.curves.run import Job, Outcome, perform
from benchmarks.problems import lcdb
from benchmarks.problems.trainings import last_step, training, unit
from benchmarks.rows import append, missing

TABLE = """openmlid,learner,size_train,size_test,outer_seed,inner_seed,traintime,score_train,score_valid,score_test
6,tree,32,9,0,0,2.0,1.0,0.5,0.1
6,tree,16,9,0,0,1.0,1.0,0.25,0.1
6,tree,16,9,0,1,7.0,1.0,0.99,0.1
6,SVC,16,9,0,0,0.5,1.0,0.75,0.1
6,SVC,32,9,0,0,0.5,1.0,0.625,0.1
60,tree,64,9,0,0,9.0,1.0,0.99,0.1
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A table of two learners in the place of LCDB, under names that nothing else asks for."""
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(lcdb, "_table", lambda: tmp_path / "table.csv")
    for cached in (lcdb.fits, training, last_step, unit):
        cached.cache_clear()


@pytest.mark.usefixtures("small")
def test_a_learner_reports_one_split_and_the_seconds_of_all_its_fits() -> None:
    assert list(training("lcdb-6").space["learner"].values) == ["SVC", "tree"]
    course = training("lcdb-6")({"learner": "tree"})
    assert (course.steps.tolist(), course.values.tolist()) == ([16.0, 32.0], [25.0, 50.0])
    assert course.seconds.tolist() == [1.0, 3.0]
    assert (last_step("lcdb-6"), unit("lcdb-6")) == (32.0, 2.0)


@pytest.mark.usefixtures("small")
def test_a_run_ends_when_all_learners_were_tried() -> None:
    outcome = perform(Job("aegis-gain", "lcdb-6", 0, 2))
    assert (outcome.trials, outcome.stopped) == (2, 0)
    assert (outcome.after_1, outcome.after_20) == (75.0, 75.0)
    assert outcome.trace == "0.25:75"


def test_without_the_package_of_lcdb_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lcdb, "find_spec", lambda name: None)
    with pytest.raises(AegisError, match="pip install --no-deps lcdb"):
        lcdb._table()


def test_what_ends_best_starts_lowest_where_curves_cross() -> None:
    problem = training("crossing-0")
    near, far = ({f"x{k}": float(x + step) for k, x in enumerate(problem.best)} for step in (0.0, 0.3))
    assert problem(near).values[0] < problem(far).values[0]
    assert problem(near).values[-1] > problem(far).values[-1]


def test_all_begin_with_the_same_trainings_and_count_what_they_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "UNITS", 1.5)
    seen: list[runs.Trainings] = []
    monkeypatch.setattr(runs, "Trainings", lambda *given: seen.append(Trainings(*given)) or seen[-1])
    methods = ("aegis-full", "random-ranks", "aegis-gain")
    outcomes = [perform(Job(method, "crossing-0", 3, 4)) for method in methods]
    for number in range(4):
        assert len({tuple(workers.courses[number].values) for workers in seen}) == 1
    for outcome, workers in zip(outcomes, seen, strict=True):
        said = [value for when, value in workers.said if when <= 1.5 * unit("crossing-0")]
        assert outcome.after_1 <= outcome.after_2 == outcome.after_20 == max(said)
        assert outcome.trials == len(workers.courses)
        assert outcome.missed <= outcome.stopped < outcome.trials
    full, ranks, gain = outcomes
    assert (full.stopped, full.spared) == (0, 0.0)
    assert gain.after_1 == full.after_1  # six have to end first
    assert ranks.stopped > 0


Trainings = runs.Trainings  # before a test replaces it


def test_a_stored_run_is_not_planned_again(tmp_path: Path) -> None:
    options = argparse.Namespace(problems=["lcdb", "crossing-3"], set="develop", seeds=[0, 1], methods=["a"], workers=4)
    planned = program.planned(options)
    assert [job.problem for job in planned[:2]] == ["lcdb-6", "lcdb-201"]
    assert len(planned) == 2 * 7
    append(tmp_path / "curves.csv", [made("a", 1.0, job=planned[3])])
    assert missing(tmp_path / "curves.csv", Outcome, planned) == [*planned[:3], *planned[4:]]


@pytest.mark.parametrize("name", ["lcdb", "crossing"])
def test_development_and_confirmation_share_nothing(name: str) -> None:
    develop, confirm = (set(program._names(name, each)) for each in program.SETS)
    assert (len(develop), len(confirm)) == (6, 6)
    assert not develop & confirm


def made(method: str, end: float, trace: str = "", *, job: Job | None = None, missed: int = 0) -> Outcome:
    job = job or Job(method, "lcbench-1", 0, 4)
    marks = np.linspace(0.0, end, 5).tolist()
    return Outcome(method, job.problem, job.seed, job.workers, *marks, 10, 4, missed, 0.5, 1.0, 0.2, 100, trace)


def test_the_report_says_who_was_ahead_when_and_how_soon(capsys: pytest.CaptureFixture[str]) -> None:
    mine, full = made("aegis-gain", 90.0, "1:50 5:84 12:90", missed=2), made("aegis-full", 84.0, "20:84")
    print_report([mine, full, replace(mine, seed=1, after_20=80.0, trace="1:50"), replace(full, seed=1)], "aegis-gain")
    told = capsys.readouterr().out
    assert "lcbench, 4 workers, 1 problems" in told
    signs = next(line for line in told.splitlines() if line.startswith("  than aegis-full"))
    assert signs.split("  ")[-1].strip() == "1 : 1 (1)"
    assert (
        "aegis-gain                              8 of 20 stopped, 4 better than the run's best (in 2 of 2 runs)" in told
    )
    assert "1 of 2 in a third" in told
