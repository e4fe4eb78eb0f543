"""A run that is told something while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from typing import Any

import numpy as np
import pytest

from aegisbo import load, minimize
from aegisbo.events import Changed
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work
from aegisbo.study import add, change
from aegisbo.study.opening import beside
from aegisbo.study.replay import replay

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}
A, B = {"u": 1.0, "v": 2.25}, {"u": 2.0, "v": 2.75}


def bowl(u: float, v: float) -> float:
    return (u - 3.0) ** 2 + v


def at(number: int, action: Any) -> Any:
    """A callback that does something after the trial with this number has ended, once."""
    done: list[int] = []

    def callback(trial: Any, result: Any) -> None:
        if trial.number == number and not done:
            done.append(number)
            action()

    return callback


@pytest.mark.parametrize(
    "options",
    [
        {"executor": "serial", "strategy": "random"},
        {"executor": "serial", "n_initial": 3},
        {"executor": "threads", "workers": 1, "n_initial": 3},
    ],
    ids=["initial", "model", "threads"],
)
def test_added_points_are_next_and_count(tmp_path: Path, options: dict[str, Any], logged: list) -> None:
    path = tmp_path / "run.db"

    def both() -> None:
        add(path, A)
        add(path, B)

    result = minimize(bowl, BOX, budget=9, seed=2, study=path, callbacks=[at(4, both)], **options)
    moves = [trial.note["move"] for trial in result.trials]
    assert (result.nfev, moves.count("added")) == (9, 2)
    first = moves.index("added")
    assert first == 5
    assert [trial.params for trial in result.trials[first : first + 2]] == [A, B]
    assert result.trials[first].value == bowl(**A)
    assert ("INFO", "Added: u=1, v=2.25 is tried next.") in logged
    found = replay(path)
    assert (found.decisions, found.differences) == (9, ())


def test_added_points_wait_for_a_budget_and_survive(tmp_path: Path) -> None:
    path, options = tmp_path / "run.db", {"seed": 2, "strategy": "random", "executor": "serial"}
    minimize(bowl, BOX, budget=3, study=path, callbacks=[at(2, lambda: add(path, A))], **options)
    assert load(path).optimizer.waiting == (A,)
    result = minimize(bowl, BOX, budget=4, study=path, **options)
    assert result.trials[3].params == A
    assert replay(path).differences == ()


PATIENCE = 120.0
SERIAL: Any = {"seed": 2, "strategy": "random", "executor": "serial"}


class Meanwhile(Thread):
    """Does something in a thread of its own, as another process would; leaving the context waits for it."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.action, self.done = action, False

    def run(self) -> None:
        self.action()
        self.done = True

    def __enter__(self) -> Meanwhile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.join(PATIENCE)
        assert self.done


@pytest.mark.parametrize(("budget", "ended"), [(8, 8), (5, 5), (2, 4)])
def test_another_budget(tmp_path: Path, budget: int, ended: int, logged: list) -> None:
    path = tmp_path / "run.db"
    callbacks = [at(3, lambda: change(path, budget=budget))]
    result = minimize(bowl, BOX, budget=6, study=path, callbacks=callbacks, progress=True, **SERIAL)
    assert (result.nfev, result.message) == (ended, "The budget is spent.")
    assert ("INFO", f"Set: budget={budget}.") in logged
    assert any(text.startswith(f"{ended}/{budget}  best") for _, text in logged)
    again = minimize(bowl, BOX, budget=6, study=path, **SERIAL)  # the same call
    assert again.nfev == ended
    told = f"`aegisbo set` has changed {path}, so this run uses: budget={budget}."
    assert ("WARNING", told) in logged
    assert minimize(bowl, BOX, budget=9, study=path, **SERIAL).nfev == 9
    assert replay(path).differences == ()


def test_more_workers_begin_while_the_others_are_busy(tmp_path: Path) -> None:
    path, first, second = tmp_path / "run.db", Event(), Event()

    def meet(u: float, v: float) -> float:
        if not first.is_set():
            first.set()
            assert second.wait(PATIENCE)
        second.set()
        return bowl(u, v)

    with Meanwhile(lambda: first.wait(PATIENCE) and change(path, workers=2)):
        result = minimize(meet, BOX, budget=3, study=path, executor="threads", workers=1, strategy="random")
    assert [trial.state for trial in result.trials] == ["done"] * 3
    assert {trial.worker for trial in result.trials} == {0, 1}
    assert sum(result.idle.values()) <= 1.0


def test_fewer_workers_let_evaluations_finish_and_are_not_refilled(tmp_path: Path, logged: list) -> None:
    path, all_here, go, lock = tmp_path / "run.db", Barrier(4), Event(), Lock()
    running, calls, crowds = set(), [], []

    def crowd(u: float, v: float) -> float:
        with lock:
            calls.append(u)
            late = len(calls) > 3
            running.add(u)
            if late:
                crowds.append(len(running))
        if not late:
            all_here.wait(PATIENCE)
            assert go.wait(PATIENCE)
        with lock:
            running.discard(u)
        return bowl(u, v)

    def fewer() -> None:
        all_here.wait(PATIENCE)
        change(path, workers=1)
        deadline = time.monotonic() + PATIENCE
        while ("INFO", "Set: workers=1.") not in logged:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        go.set()

    with Meanwhile(fewer):
        result = minimize(crowd, BOX, budget=8, study=path, executor="threads", workers=3, strategy="random")
    assert (result.nfev, crowds) == (8, [1] * 5)
    assert result.failures == {}
    again = minimize(bowl, BOX, budget=9, study=path, executor="threads", workers=3, strategy="random", anyway=True)
    assert again.trials[8].worker == 0


def test_a_target_that_is_reached_already_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    result = minimize(bowl, BOX, budget=50, study=path, callbacks=[at(3, lambda: change(path, target=99.0))], **SERIAL)
    assert (result.nfev, result.message) == (4, "The target 99 is reached.")


def test_a_time_limit_for_an_evaluation_that_hangs(tmp_path: Path) -> None:
    path, begun = tmp_path / "run.db", Event()
    never = Event()

    def hang(u: float, v: float) -> float:
        begun.set()
        never.wait(PATIENCE)
        return 0.0

    def hurry() -> None:
        begun.wait(PATIENCE)
        change(path, trial_timeout=0.01, give_up_after=1)

    with Meanwhile(hurry):
        result = minimize(hang, BOX, budget=2, study=path, executor="threads", workers=1, strategy="random")
    assert [trial.state for trial in result.trials] == ["timed_out"]
    assert "give_up_after=1" in result.message
    never.set()


def test_a_time_limit_for_the_run_ends_it_or_is_lifted(tmp_path: Path) -> None:
    path, begun, never = tmp_path / "run.db", Event(), Event()

    def hang(u: float, v: float) -> float:
        begun.set()
        never.wait(PATIENCE)
        return 0.0

    with Meanwhile(lambda: begun.wait(PATIENCE) and change(path, timeout=1e-6)):
        result = minimize(hang, BOX, budget=2, study=path, executor="threads", workers=1, strategy="random")
    assert result.message == "The time is up."
    never.set()
    change(path, timeout=None)
    result = minimize(hang, BOX, budget=2, study=path, executor="threads", workers=1, strategy="random", anyway=True)
    assert result.nfev == 2


def test_what_workers_cannot_be_is_said_and_the_run_goes_on(tmp_path: Path, logged: list) -> None:
    path = tmp_path / "run.db"
    result = minimize(bowl, BOX, budget=4, study=path, callbacks=[at(1, lambda: change(path, workers=3))], **SERIAL)
    assert result.nfev == 4
    assert ("WARNING", "Evaluations in the calling thread run one at a time: workers=3 changes nothing.") in logged

    def devices(slot: int) -> dict[str, str]:
        return {"DEVICE": ["gpu0"][slot]}

    other = tmp_path / "other.db"
    options: Any = {"workers": 1, "strategy": "random", "worker_env": devices}
    result = minimize(bowl, BOX, budget=4, study=other, callbacks=[at(1, lambda: change(other, workers=2))], **options)
    assert result.nfev == 4
    assert any(text.startswith("The run continues with 1 worker: IndexError") for _, text in logged)


@pytest.mark.long
def test_copies_follow_a_budget_and_a_target(tmp_path: Path, logged: list) -> None:
    path, settings = tmp_path / "run.db", Settings.checked(BOX, strategy="random", seed=1)
    assert work(bowl, path, settings, budget=2).nfev == 2
    change(path, budget=4)
    assert work(bowl, path, settings, budget=2).nfev == 4  # the same words again
    change(path, budget=100, target=1e9)
    result = work(bowl, path)
    assert (result.nfev, result.message) == (5, "The target 1e+09 is reached.")
    assert ("WARNING", f"`aegisbo set` has changed {path}, so this run uses: target=1000000000.0.") in logged
    assert replay(path).differences == ()


def test_limits_of_any_number_are_written_down(tmp_path: Path) -> None:
    options: Any = {"timeout": Fraction(900), "target": np.float32(-1e9), "retries": np.int64(1), **SERIAL}
    assert minimize(bowl, BOX, budget=np.int64(2), study=tmp_path / "run.db", **options).nfev == 2


def test_a_study_in_which_a_setting_was_changed_that_is_gone_goes_on(tmp_path: Path, logged: list) -> None:
    path = tmp_path / "run.db"
    minimize(bowl, BOX, budget=2, study=path, **SERIAL)
    with closing(beside(path)) as log, log.transaction():
        log.append(Changed({"ahead": 1}))
    assert minimize(bowl, BOX, budget=3, study=path, **SERIAL).nfev == 3
    assert not any("ahead" in text for _, text in logged)
