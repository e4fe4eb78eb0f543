"""A run that is told something while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aegisbo import minimize
from aegisbo.study import add, load
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
        {"executor": "threads", "workers": 1, "n_initial": 3, "ahead": 1},
    ],
    ids=["initial", "model", "ahead"],
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
