"""A study that two workers filled in: with failures, results that came in late, and two trials pending."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from driven import ask

from aegisbo.optimizer import Settings, Trial
from aegisbo.outcome import Outcome
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.study import Study

SPACE = Space({"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "a$ct": Choice(["relu", "$x_1", "gelu"])})
BEGAN = 1_700_000_000.0
WORKERS, BUDGET = 2, 18


def loss(params: dict) -> float:
    act = {"relu": 0.0, "$x_1": 1.0, "gelu": 0.5}[params["a$ct"]]
    return (math.log10(params["lr"]) + 3.0) ** 2 + (params["units"] / 100.0 - 1.0) ** 2 + act


def outcome(trial: Trial, began: float, worker: int) -> Outcome:
    seconds = 1.0 + 0.25 * (trial.number % 5)
    if trial.number in (3, 9):
        return Outcome("failed", reason="diverged $", seconds=seconds, began=began, worker=worker)
    if trial.number == 6:
        return Outcome("timed_out", reason="too slow", seconds=seconds, began=began, worker=worker)
    return Outcome("done", loss(trial.params), seconds=seconds, began=began, worker=worker)


def write_study(path: Path) -> None:
    """Write the file; its clock is our own, so that every time in it is known."""
    clock = SimpleNamespace(now=BEGAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aegisbo.study.store.time", SimpleNamespace(time=lambda: clock.now, sleep=lambda seconds: None))
        with Study.open(path, Settings.checked(SPACE, seed=4, preset="modern")) as study:
            fill_in(study, clock)


def fill_in(study: Study, clock: SimpleNamespace) -> None:
    free, running = list(range(WORKERS)), []
    unknown = []  # results on disk that the optimizer has not been told
    for count in range(BUDGET + WORKERS):
        if not free:
            running.sort(key=lambda job: job[0])
            clock.now, trial, ended = running.pop(0)
            event = study.ended(trial.number, ended, ended.seconds)
            free.append(ended.worker)
            if count % 4 == 3:  # this result comes in while the next point is being chosen
                unknown.append(event)
            else:
                study.take_in(event)
        clock.now += 0.125
        trial = ask(study, 0.125)
        for event in unknown:
            study.take_in(event)
        unknown.clear()
        ended = outcome(trial, clock.now + 0.0625, free.pop(0))
        running.append((ended.began + ended.seconds, trial, ended))
