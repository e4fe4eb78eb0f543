"""`aegisbo add`, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import call

import aegisbo
from aegisbo.errors import AegisError, InvalidInput, StudyError
from aegisbo.study.lock import DriverLock

SPACE = {"lr": aegisbo.Real(1e-4, 1.0, log=True), "units": aegisbo.Int(16, 512), "act": aegisbo.Choice(["relu", None])}
BUDGET = 3


def loss(lr: float, units: int, act: str | None) -> float:
    return lr * units


def run(budget: int = BUDGET) -> aegisbo.Result:
    return aegisbo.minimize(loss, SPACE, budget=budget, study="run.db", strategy="random", seed=1, executor="serial")


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run()


def test_a_point_is_added_shown_and_tried() -> None:
    assert call("add", "run.db", "lr=1e-3", "units=64", "act=none") == (
        "Added: lr = 0.001, units = 64, act = None. It is next; the study is not running: make the same call "
        "again to continue. The budget of 3 has no room for it: give a larger one (`aegisbo set run.db budget=N`).\n"
    )
    with DriverLock(Path("run.db"), shared=True):
        told = call("add", "run.db", "lr=0.5", "units=64", "act=relu")
    assert told.startswith(
        "Added: lr = 0.5, units = 64, act = relu. 2 points are waiting, and this one is the last. The "
    )
    shown = " ".join(call("show", "run.db").split())
    assert "added and not yet tried: lr = 0.001, units = 64, act = None; lr = 0.5, units = 64, act = relu" in shown
    result = run(BUDGET + 2)
    assert [trial.params["act"] for trial in result.trials[BUDGET:]] == [None, "relu"]
    assert "All 5 decisions follow" in call("replay", "run.db")
    assert "added and not yet tried" not in call("show", "run.db")


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["run.db", "lr=1e-3", "units=64"], InvalidInput, "x must have the names lr, units, act, got"),
        (
            ["run.db", "lr=1e-3", "units=64", "act=tanh"],
            InvalidInput,
            "Parameter 'act': 'tanh' is not among the choices",
        ),
        (["run.db", "lr=9", "units=64", "act=relu"], InvalidInput, "Parameter 'lr': 9.0 is not within"),
        (["run.db", "lr=x", "units=64", "act=relu"], InvalidInput, "Parameter 'lr': 'x' is no number"),
        (["run.db", "lr", "units=64", "act=relu"], InvalidInput, "The value 'lr' sets nothing: write NAME=VALUE"),
        (["none.db", "lr=1"], StudyError, "There is no study file none.db"),
    ],
)
def test_bad_input_gets_one_sentence(words: list[str], kind: type[AegisError], message: str) -> None:
    with pytest.raises(kind, match=message):
        call("add", *words)
    assert aegisbo.load("run.db").optimizer.waiting == ()
