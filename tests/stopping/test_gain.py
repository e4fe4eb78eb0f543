"""The rule by the gain: what it stops, what it never stops, and that it hardly ever stops a later winner."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo import Optimizer
from aegisbo.outcome import Report
from aegisbo.runners.loop import run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.gain import Gain
from aegisbo.stopping.rule import objection
from aegisbo.study import Study

STEPS = np.arange(1.0, 21.0)


def curve(level: float, seen: int = 20, seconds: float | None = None) -> Curve:
    """It falls to its level."""
    values = level + 1.0 / STEPS[:seen]
    return Curve(STEPS[:seen], values, float(values[-1]) if seen == 20 else None, seen < 20, seconds=seconds)


def known(*running: Curve, ended: int = 12) -> Curves:
    levels = default_rng(0).uniform(0.0, 1.0, ended)
    of = dict(enumerate([*(curve(level) for level in levels), *running]))
    return Curves(of, first=0, last_step=20.0)


def test_what_falls_behind_is_stopped_and_what_may_become_the_best_goes_on() -> None:
    curves = known(curve(2.0, 5), curve(0.05, 5))
    assert "its chance to become the best was 0.0" in objection("gain", 12, curves)
    assert objection("gain", 13, curves) == ""


def test_nothing_is_stopped_before_enough_have_ended() -> None:
    assert objection("gain", 5, known(curve(99.0, 5), ended=5)) == ""
    assert objection("gain", 6, known(curve(99.0, 5), ended=6)) != ""
    far = replace(known(curve(2.0, 5)), last_step=None)
    assert objection("gain", 12, far) == ""


def test_one_that_diverges_is_stopped() -> None:
    diverges = replace(curve(0.0, 5), values=np.array([1.0, 0.5, 0.3, 0.2, math.inf]))
    assert objection("gain", 12, known(diverges)) == "At step 5 its value was not finite."
    assert objection("gain", 5, known(diverges, ended=5)) == ""


def test_one_at_its_last_step_goes_on() -> None:
    last = replace(curve(2.0), end=None, runs=True)
    assert objection("gain", 12, known(last)) == ""


def test_the_first_of_a_run_and_the_best_so_far_are_never_stopped() -> None:
    curves = known(curve(2.0, 5))
    assert objection("gain", 12, curves) != ""
    assert objection("gain", 12, replace(curves, first=12)) == ""


def test_a_new_one_must_gain_more_per_second() -> None:
    slow, quick = (known(replace(curve(0.5, 18), seconds=18.0 * pace)) for pace in (100.0, 1e-9))
    for curves in (slow, quick):  # all others took 20 seconds
        others = {k: replace(each, seconds=each.seconds or 20.0) for k, each in curves.of.items()}
        object.__setattr__(curves, "of", others)
    rule = Gain(share=1e9)  # whatever the chance is
    assert rule.objection(12, slow) != ""
    assert rule.objection(12, quick) == ""


class Trainings(VirtualWorkers):
    """Jobs that report after each of 20 steps of a second each."""

    def __init__(self, workers: int, rise: float) -> None:
        super().__init__(lambda number: float(self.courses[number][-1]), workers, lambda u: 20.0, seed=0)
        self.courses: dict[int, np.ndarray] = {}
        self.rise = rise

    def submit(self, number: int, x: dict[str, float]) -> int:
        good = (x["a"] - 0.3) ** 2 + (x["b"] - 0.6) ** 2
        noise = 0.01 * default_rng(number).standard_normal(20)
        self.courses[number] = good + (1.0 - self.rise * good) / STEPS + noise
        return super().submit(number, number)

    def reports(self, number: int, x: int) -> list[Report]:
        return [Report(k + 1.0, float(value), k + 1.0) for k, value in enumerate(self.courses[number])]


@pytest.mark.long
@pytest.mark.parametrize("rise", [0.0, 0.9])  # 0.9: those that end best start worst
def test_later_winners_are_hardly_ever_stopped(rise: float) -> None:
    missed = stops = 0
    for seed in range(8):
        workers = Trainings(4, rise)
        optimizer = Optimizer(
            {"a": (0.0, 1.0), "b": (0.0, 1.0)}, seed=seed, strategy="random", stop_early=True, steps=20
        )
        run(Study(optimizer), workers, 60)
        best = min(trial.value for trial in optimizer.trials if trial.state == "done")
        stopped = [trial.number for trial in optimizer.trials if trial.state == "stopped"]
        stops += len(stopped)
        missed += sum(workers.courses[number][-1] < best for number in stopped)
    assert stops > 8 * 15
    assert missed == 0


def test_a_run_of_a_kind_decides_alike_again() -> None:
    def reasons() -> list[str | None]:
        optimizer = Optimizer({"a": (0.0, 1.0), "b": (0.0, 1.0)}, seed=1, strategy="random", stop_early=True, steps=20)
        run(Study(optimizer), Trainings(4, 0.0), 40)
        return [trial.reason for trial in optimizer.trials]

    assert reasons() == reasons()
