"""A run with a time limit starts what will be finished, each point judged by its own time, on the virtual clock."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer, minimize
from aegisbo.options import Options
from aegisbo.runners.loop import run
from aegisbo.runners.run import Run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import constant
from aegisbo.strategies.durations import FEWEST
from aegisbo.study import Study
from aegisbo.study.replay import replay

BOX = [(-5, 10), (2, 3)]
LIMIT = 400.0


def sphere(x: Any) -> float:
    return float((x[0] - 4) ** 2 + (x[1] - 2.5) ** 2)


def seconds_at(x: Any) -> float:
    """From 1 to 200 seconds, the longer the larger x[0] is."""
    return float(200 ** ((x[0] + 5) / 15))


class ByPoint(VirtualWorkers):
    """Workers whose jobs take as long as their points say."""

    def __init__(self, workers: int) -> None:
        super().__init__(sphere, workers, constant, seed=0)
        self.points: dict[int, Any] = {}
        self.started: dict[int, float] = {}

    def submit(self, number: int, x: Any) -> int:
        self.points[number], self.started[number] = x, self.now()
        return super().submit(number, x)

    def seconds(self, number: int) -> float:
        return seconds_at(self.points[number])


def limited(optimizer: Optimizer, **options: Any) -> tuple[ByPoint, Run]:
    workers = ByPoint(3)
    return workers, run(Study(optimizer), workers, 500, options=Options(timeout=LIMIT, **options))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_started_when_times_are_known_is_finished(seed: int) -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=seed)
    workers, record = limited(optimizer)
    known_at = sorted(job.finished for job in record.finished)[2 * FEWEST]
    late = {number for number, at in workers.started.items() if at > known_at}
    assert len(late) > 10
    assert late <= {job.number for job in record.finished}
    assert record.message.startswith("The time is up: probably no evaluation would finish within")
    assert workers.now() <= LIMIT


def test_near_the_end_quick_points_are_chosen() -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    workers, _ = limited(optimizer)
    last = [number for number, at in workers.started.items() if at > LIMIT - 20]
    assert len(last) >= 5  # a random point takes 15 seconds at the median
    assert all(workers.seconds(number) <= 20 for number in last)
    assert any("within_seconds" in optimizer.trials[number].note for number in last)


def test_where_each_evaluation_is_limited_itself_that_is_long_enough() -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    workers, _ = limited(optimizer, trial_timeout=5.0)
    hurried = {trial.number for trial in optimizer.trials if "expected_seconds" in trial.note}
    assert hurried == {number for number, at in workers.started.items() if at > LIMIT - 5.0}


def test_a_trial_of_an_earlier_run_that_would_not_be_finished_stays_pending() -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, sphere(trial.x), seconds_at(trial.x))
    slow = optimizer.ask(within=1e6)
    optimizer._trials.put(replace(slow, note={**slow.note, "expected_seconds": 1000.0}))
    quick = optimizer.ask(within=20.0)
    workers, _ = limited(optimizer)
    assert slow.number not in workers.started
    assert quick.number in workers.started
    assert [trial.number for trial in optimizer.pending] == [slow.number]


def test_a_trial_of_which_nothing_was_expected_takes_as_long_as_most_did() -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    *_, last = [optimizer.ask() for _ in range(12)]  # of an earlier run
    workers = VirtualWorkers(sphere, 1, lambda u: 1.0, seed=0)
    record = run(Study(optimizer), workers, 12, options=Options(timeout=11.5))
    assert [trial.number for trial in optimizer.pending] == [last.number]
    assert record.message.startswith("The time is up: probably no evaluation would finish within")
    assert workers.now() == 11.0  # it was not even begun


def test_an_expectation_that_is_no_number_is_none() -> None:
    """A strategy of another package writes notes as it likes."""
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    trial = optimizer.ask()
    optimizer._trials.put(replace(trial, note={**trial.note, "expected_seconds": "soon", "within_seconds": "a minute"}))
    assert "expected to take" not in str(optimizer.explain(trial.number))
    workers, _ = limited(optimizer)
    assert trial.number in workers.started


@pytest.mark.long
def test_a_priced_run_is_resumed_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"

    def slow(x: Any) -> float:
        time.sleep(seconds_at(x) / 5000)
        return sphere(x)

    call = {"seed": 5, "study": path, "executor": "threads", "workers": 2, "cost": "time"}
    for budget in (8, 14):
        result = minimize(slow, BOX, budget=budget, **call)
    assert "expected_seconds" in result.trials[-1].note
    assert "expected to take" in repr(result.explain(13))
    assert replay(path).differences == ()
    assert np.isfinite(result.fun)
