"""Advice from runs that stop early: which simulated evaluations end early, and what counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo import Optimizer
from aegisbo.advice import advise
from aegisbo.advice.stand_in import Drawn, StandIn
from aegisbo.advice.stops import stops_of
from aegisbo.advice.teams import Team
from aegisbo.optimizer import Core
from aegisbo.outcome import Outcome
from aegisbo.review.landscape import needed_landscapes
from aegisbo.runners.loop import run
from aegisbo.study import Study


def after(count: int = 60, above: float = 6.0) -> Optimizer:
    """Evaluations of 90 seconds, stopped after 5 or 6 where x is above this."""
    optimizer = Optimizer({"x": (-5.0, 10.0)}, seed=0, strategy="random")
    for number in range(count):
        x = optimizer.ask().params["x"]
        outcome = Outcome("done", (x - 3.0) ** 2, seconds=90.0)
        if x > above:
            outcome = Outcome("stopped", reason="It diverges.", seconds=5.0 + number % 2)
        optimizer.end(number, outcome)
    return optimizer


def count(optimizer: Core, state: str) -> int:
    return sum(trial.state == state for trial in optimizer.trials)


def test_evaluations_are_stopped_where_the_run_stopped_its_own() -> None:
    optimizer = after()
    stand_in = StandIn.of(optimizer, [model.belief for model in needed_landscapes(optimizer).values()])
    for x, share in ((9.0, 1.0), (0.0, 0.0)):
        drawn = [stand_in.evaluate({"x": x}, default_rng(luck)) for luck in range(200)]
        assert np.mean([each.stopped for each in drawn]) == pytest.approx(share, abs=0.1)
        assert {each.seconds for each in drawn if each.stopped} <= {5.0, 6.0}
        assert all((each.value is None) == (each.level is None) == each.stopped for each in drawn)


def test_if_it_does_not_depend_on_the_point_as_often() -> None:
    optimizer = Optimizer({"x": (-5.0, 10.0)}, seed=0, strategy="random")
    for number in range(12):
        optimizer.ask()
        outcome = Outcome("stopped", seconds=5.0) if number % 4 == 0 else Outcome("done", 1.0, seconds=90.0)
        optimizer.end(number, outcome)
    stops = stops_of(optimizer, default_rng(0))
    assert stops is not None
    assert stops.going_on == 0.75
    assert stops_of(after(above=99.0), default_rng(0)) is None


class Halving:
    """A stand-in that stops every other evaluation after a second; the others take three."""

    def __init__(self) -> None:
        self.count = 0

    def evaluate(self, x: Any, rng: np.random.Generator) -> Drawn:
        self.count += 1
        return Drawn(1.0, stopped=True) if self.count % 2 else Drawn(3.0, 0.5, 0.5)


def test_what_is_stopped_frees_its_worker() -> None:
    optimizer = Optimizer({"x": (-5.0, 10.0)}, seed=0, strategy="random")
    done = run(Study(optimizer), Team(Halving(), 2, batches=False, suggestion=0.0, seed=0), 4).finished
    assert {job.number: (job.finished, job.outcome.state) for job in done} == {
        0: (1.0, "stopped"),
        1: (3.0, "done"),
        2: (2.0, "stopped"),
        3: (5.0, "done"),
    }


def test_advice_counts_what_was_stopped() -> None:
    optimizer = after(30)
    found = advise(optimizer, [], runs=1)
    assert (found.results, found.stopped) == (count(optimizer, "done"), count(optimizer, "stopped"))
    assert found.given_up_after == 3 * 30
    assert found.evaluation == pytest.approx(np.mean([trial.seconds for trial in optimizer.trials]))
    (alone,) = found.forecasts
    assert alone.seconds[0] < 90.0 * alone.evaluations[0] < np.inf
    assert advise(after(30, above=99.0), [], runs=1).stopped == 0
