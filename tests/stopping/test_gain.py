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


def test_before_ends_can_be_learned_from_the_best_third_at_a_ninth_of_the_steps_goes_on() -> None:
    def told(ended: int, *running: Curve) -> str:
        return objection("gain", ended + len(running) - 1, known(*running, ended=ended))

    assert told(2, curve(0.0, 1), curve(99.0, 3)) == "At step 3 it was number 3 of 3."
    assert told(1, curve(0.0, 1), curve(99.0, 3)) == ""  # two are too few to compare
    assert told(2, curve(0.0, 1), curve(99.0, 2)) == ""
    assert told(2, curve(0.0, 1), curve(99.0, 4)) == ""  # it was looked at before
    assert told(2, curve(-1.0, 1), curve(0.01, 3)) == ""
    assert told(2, curve(0.28, 3)) == "At step 3 it was number 2 of 3."
    assert told(3, curve(0.05, 3)) == ""  # the same place, but three ends teach that it may still be the best


def test_nothing_is_stopped_while_the_last_step_is_unknown() -> None:
    assert objection("gain", 12, replace(known(curve(2.0, 5)), last_step=None)) == ""


def test_survivors_soon_have_all_workers() -> None:
    def stopped(workers: int) -> int:
        optimizer = Optimizer({"a": (0.0, 1.0), "b": (0.0, 1.0)}, seed=0, strategy="random", stop_early=True, steps=20)
        run(Study(optimizer), Trainings(workers, 0.0), 400, more=lambda: optimizer.tally().done < 3)
        return optimizer.tally().stopped

    assert stopped(2) <= 6
    assert stopped(16) <= 48


def test_one_that_diverges_is_stopped() -> None:
    diverges = replace(curve(0.0, 5), values=np.array([1.0, 0.5, 0.3, 0.2, math.inf]))
    assert objection("gain", 12, known(diverges)) == "At step 5 its value was not finite."
    assert objection("gain", 2, known(diverges, ended=2)) == ""


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
