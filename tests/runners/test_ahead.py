"""Points made ahead of time: when they are kept, what is recorded of them, and that the books are right."""

from __future__ import annotations

import math
from pathlib import Path
from threading import Semaphore
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Optimizer
from aegisbo.optimizer.prepared import Prepared
from aegisbo.outcome import Outcome
from aegisbo.runners.loop import run
from aegisbo.runners.minimize import minimize
from aegisbo.runners.protocol import Finished
from aegisbo.runners.run import Rules, Run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import Constant, Exponential, HalfNormal, Law
from aegisbo.simulation.slow_strategy import SlowStrategy
from aegisbo.space import Choice, Int
from aegisbo.strategies.baselines import Random
from aegisbo.study import load
from aegisbo.study.events import read_events
from aegisbo.study.replay import replay

BOX = [(-5, 10), (2, 3)]


def bowl(x: Any) -> float:
    return float((x[0] - 1) ** 2 + x[1])


class Scripted(VirtualWorkers):
    """Trial i takes seconds[i]."""

    def __init__(self, capacity: int, *seconds: float) -> None:
        super().__init__(bowl, capacity, Constant(), seed=0)
        self.script = seconds

    def seconds(self, number: int) -> float:
        return self.script[number]


def driven(
    workers: VirtualWorkers, budget: int, ahead: int, thinking: float = 1.0, **rest: Any
) -> tuple[Optimizer, Run]:
    """A run in which every choice takes `thinking` seconds."""
    strategy = SlowStrategy(Random(), workers, thinking)
    optimizer = Optimizer(BOX, strategy=strategy, seed=0, n_initial=0)
    for k in range(3):  # from now on the strategy chooses
        optimizer.observe([k, 2 + k / 3], 1.0)
    return optimizer, run(optimizer, workers, budget, rules=Rules(ahead=ahead), **rest)


def behind(optimizer: Optimizer) -> list[int | None]:
    return [trial.note.get("behind") for trial in optimizer.trials]


def starts(record: Run) -> dict[int, float]:
    return {job.number: job.started for job in record.finished}


def test_a_worker_that_becomes_free_gets_the_point_that_is_ready_at_once() -> None:
    """By hand: choices end at 1 and 2, then the third is made until 3; the workers are free at 11 and 22."""
    optimizer, record = driven(Scripted(2, 10.0, 20.0, 30.0, 40.0), 4, ahead=1)
    assert starts(record) == {0: 1.0, 1: 2.0, 2: 11.0, 3: 22.0}
    assert behind(optimizer) == [None, None, 1, 1]
    first, second = record.idle
    assert (first.suggestion, second.suggestion) == (1.0, 2.0)  # until their first points


def test_without_it_every_worker_waits_for_its_point() -> None:
    optimizer, record = driven(Scripted(2, 10.0, 20.0, 30.0, 40.0), 4, ahead=0)
    assert starts(record) == {0: 1.0, 1: 2.0, 2: 12.0, 3: 23.0}
    assert behind(optimizer) == [None] * 4
    first, second = record.idle
    assert (first.suggestion, second.suggestion) == (2.0, 3.0)


@pytest.mark.parametrize(
    ("ahead", "expected", "lags"),
    [
        (1, {0: 1.0, 1: 2.0, 2: 3.0, 3: 5.0, 4: 6.0}, [None, None, None, None, None]),
        (2, {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0, 4: 5.0}, [None, None, None, 2, None]),
    ],
)
def test_a_point_is_kept_if_at_most_so_many_results_came_in_since(
    ahead: int, expected: dict[int, float], lags: list[int | None]
) -> None:
    """The fourth point is made from 3 to 4; trials 0 and 1 end in between, at 3.25 and 3.5."""
    optimizer, record = driven(Scripted(3, 2.25, 1.5, 90.0, 90.0, 90.0), 5, ahead=ahead)
    assert starts(record) == expected
    assert behind(optimizer) == lags


def test_nothing_is_made_ready_that_will_not_be_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, prepare = [], Optimizer.prepare
    monkeypatch.setattr(
        Optimizer, "prepare", lambda optimizer, **options: made.append(prepare(optimizer, **options)) or made[-1]
    )
    driven(Scripted(2, 10.0, 20.0, 30.0, 40.0), 4, ahead=1)
    assert [each.number for each in made] == [2, 3]


@given(
    q=st.integers(1, 5),
    budget=st.integers(1, 25),
    ahead=st.integers(0, 3),
    thinking=st.sampled_from([0.0, 0.05, 0.5, 3.0]),
    law=st.sampled_from([HalfNormal(), Exponential(), Constant()]),
    seed=st.integers(0, 99),
)
def test_the_budget_is_met_exactly_and_the_lag_is_what_the_times_say(
    q: int, budget: int, ahead: int, thinking: float, law: Law, seed: int
) -> None:
    optimizer, record = driven(VirtualWorkers(bowl, q, law, seed), budget, ahead, thinking)
    assert [trial.state for trial in optimizer.trials] == ["done"] * budget
    assert optimizer.pending == ()
    assert list(record.suggestion_seconds) == list(range(budget))
    lags = [lag for lag in behind(optimizer) if lag is not None]
    assert all(1 <= lag <= ahead for lag in lags)
    busy = sum(worker.busy for worker in record.idle)
    assert busy == pytest.approx(record.busy)


@given(q=st.integers(1, 4), seed=st.integers(0, 99), thinking=st.sampled_from([0.01, 0.2, 2.0]))
@pytest.mark.long
def test_no_worker_waits_longer_than_without_if_nothing_is_dropped(q: int, seed: int, thinking: float) -> None:
    without, with_it = (driven(VirtualWorkers(bowl, q, HalfNormal(), seed), 10, ahead, thinking)[1] for ahead in (0, q))
    assert with_it.makespan <= without.makespan + 1e-9


def test_a_lost_trial_goes_first_and_the_point_is_made_anew_meanwhile() -> None:
    class LosesTheFirst(Scripted):
        lost = False

        def collect(self, timeout: float | None = None) -> list[Finished]:
            return [self._told(job) for job in super().collect(timeout)]

        def _told(self, job: Finished) -> Finished:
            if job.number or self.lost:
                return job
            self.lost = True
            return Finished(0, Outcome("lost", reason="died"), job.started, job.finished)

    optimizer, record = driven(LosesTheFirst(2, 10.0, 20.0, 30.0, 40.0), 4, ahead=1)
    assert [(job.number, job.started) for job in record.finished] == [
        (0, 1.0),
        (0, 11.0),
        (1, 2.0),
        (2, 21.0),
        (3, 22.0),
    ]
    assert behind(optimizer) == [None, None, 1, 1]


def test_a_point_that_is_ready_when_the_run_is_stopped_leaves_no_trace() -> None:
    calls = iter([True] * 4)  # asked before two submissions, one preparation and the next submission
    optimizer, record = driven(Scripted(2, *[10.0] * 9), 9, ahead=1, more=lambda: next(calls, False))
    assert record.message == "Stopped by Ctrl-C."
    assert [trial.state for trial in optimizer.trials] == ["done"] * len(optimizer.trials)
    assert len(optimizer.trials) == len(record.finished) < 9


@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_a_finite_space_is_evaluated_to_its_last_point(ahead: int) -> None:
    space = [Int(1, 3), Choice(["a", "b"])]
    optimizer = Optimizer(space, strategy="ei", seed=2, n_initial=2)
    workers = VirtualWorkers(lambda x: x[0] + len(x[1]), 3, HalfNormal(), seed=5)
    record = run(optimizer, workers, 50, rules=Rules(ahead=ahead))
    assert len({tuple(trial.x) for trial in optimizer.trials}) == len(optimizer.trials) == 6
    assert "All 6 points are evaluated" in record.message


class Patient:
    """A function that gives a value each time the driver has made a point ready; after the last one all of them."""

    def __init__(self, points: int) -> None:
        self.permits, self.points = Semaphore(0), points  # how many will be made ready

    def __call__(self, x: float, n: int) -> float:
        assert self.permits.acquire(timeout=60)
        if n > 20:
            raise RuntimeError("too many")
        return (x - 1) ** 2 + n / 10

    def prepared(self) -> None:
        self.points -= 1
        self.permits.release(1 if self.points else 99)


def rough(x: float, n: int) -> float:
    return x + n


SPACE = {"x": (-5.0, 10.0), "n": Int(2, 30)}
CALL: dict[str, Any] = {"n_initial": 4, "seed": 5, "workers": 3, "executor": "threads", "ahead": 1, "anyway": True}


@pytest.mark.long
def test_a_run_is_replayed_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two sittings, with failures: each point that was ready knows all results but the one that freed its worker."""
    study, prepare = tmp_path / "run.db", Optimizer.prepare
    for budget in (8, 16):
        patient = Patient(points=8 - CALL["workers"])

        def watched(optimizer: Optimizer, *, within: float | None = None, patient: Patient = patient) -> Prepared:
            prepared = prepare(optimizer, within=within)
            patient.prepared()
            return prepared

        monkeypatch.setattr(Optimizer, "prepare", watched)
        result = minimize(patient, SPACE, budget=budget, study=study, **CALL)
        assert (result.nfev, len(result.trials)) == (budget, budget)
    monkeypatch.undo()
    ready = [3, 4, 5, 6, 11, 12, 13, 14]  # those after which one evaluation at a time ended
    assert [result.trials[number].note.get("behind") for number in ready] == [1] * 8
    found = replay(study)
    assert (found.decisions, found.differences) == (16, ())
    events = read_events(study)
    for event in (event for event in events if event.kind == "asked" and event.number in ready):
        missed = [e for e in events if e.kind in ("told", "failed") and event.body["seen"] < e.id < event.id]
        assert len(missed) == 1


def test_a_driver_that_dies_with_a_point_ready_has_lost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, prepare = tmp_path / "run.db", Optimizer.prepare
    patient = Patient(points=1)

    def die(optimizer: Optimizer, *, within: float | None = None) -> Prepared:
        prepare(optimizer, within=within)
        raise KeyboardInterrupt

    monkeypatch.setattr(Optimizer, "prepare", die)
    with pytest.raises(KeyboardInterrupt):
        minimize(patient, SPACE, budget=6, study=study, **CALL)
    monkeypatch.undo()
    patient.prepared()  # lets those go that were running
    begun = [trial.params for trial in load(study).trials]
    assert len(begun) == 3
    result = minimize(rough, SPACE, budget=6, study=study, **CALL)
    assert result.nfev == len(result.trials) == 6
    assert [trial.params for trial in result.trials[:3]] == begun
    assert replay(study).differences == ()


@pytest.mark.parametrize("ahead", [-1, 1.5, True, None, "yes"])
def test_what_is_no_number_of_results_is_refused(ahead: Any) -> None:
    with pytest.raises(InvalidInput, match=r"ahead is .*: give how many results a point may be behind"):
        minimize(rough, SPACE, budget=1, ahead=ahead)


def test_time_spent_on_a_choice_does_not_turn_the_clock_back() -> None:
    workers = Scripted(2, 1.0, 2.0)
    workers.submit(0, np.zeros(2))
    workers.submit(1, np.zeros(2))
    workers.spend(5.0)
    assert [(job.number, job.finished) for job in workers.collect(0.0)] == [(0, 1.0), (1, 2.0)]
    assert workers.now() == 5.0
    assert workers.collect(math.inf) == []
