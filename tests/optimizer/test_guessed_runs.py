"""Runs in which the user has guessed where the best point is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aegisbo
from aegisbo import Choice, Int, Optimizer, Real, Space, minimize
from aegisbo.optimizer.policy import Policy
from aegisbo.strategies.registry import resolve
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

PLAIN: dict[str, Any] = {"lr": Real(1e-6, 1e-1, log=True), "units": Int(16, 512), "act": Choice(["a", "b", "c"])}
GUESSED = {
    "lr": Real(1e-6, 1e-1, log=True, guess=(1e-4, 1e-2)),
    "units": Int(16, 512, guess=100),
    "act": Choice(["a", "b", "c"], guess={"c": 3, "a": 1}),
}


def test_the_first_point_is_in_the_middle_of_the_guess() -> None:
    first = Optimizer(GUESSED, seed=0).ask().params
    assert (first["units"], first["act"]) == (100, "c")
    assert first["lr"] == pytest.approx(1e-3)


def test_what_is_not_guessed_has_the_value_of_the_design() -> None:
    plain, guessed = (Optimizer({**PLAIN, **given}, seed=0).ask().params for given in ({}, {"units": GUESSED["units"]}))
    assert guessed == {**plain, "units": 100}


def test_points_to_start_with_come_before_the_guess() -> None:
    mine = {"lr": 1e-5, "units": 20, "act": "b"}
    optimizer = Optimizer(GUESSED, seed=0, initial=[mine], n_initial=4)
    moves = [optimizer.ask() for _ in range(4)]
    assert [trial.note["move"] for trial in moves] == ["initial"] * 4
    assert moves[0].params == mine
    assert (moves[1].params["units"], moves[1].params["act"]) == (100, "c")
    assert moves[2].params["units"] != 100


@pytest.mark.parametrize("constraints", [None, ["lr < 0.05"]])
def test_the_first_points_are_denser_at_the_guess(constraints: list[str] | None) -> None:
    def near(space: dict[str, Any]) -> float:
        run = Space(space, constraints or ())
        policy = Policy(resolve("random"), 0, 60, latin=range(60))
        points = [run.params(policy.spread(number, run.cube)) for number in range(1, 60)]
        return float(np.mean([1e-4 <= each["lr"] <= 1e-2 for each in points]))

    assert near(PLAIN) == pytest.approx(2 / 5, abs=0.1)
    assert near(GUESSED) > 0.55


def test_a_guess_that_a_constraint_forbids_is_not_tried() -> None:
    optimizer = Optimizer(GUESSED, seed=0, constraints=["units < 50"])
    assert all(optimizer.ask().params["units"] < 50 for _ in range(6))


def test_where_constraints_forbid_the_guess_the_first_point_is_drawn_near_it() -> None:
    space = {"x": Real(0, 1, guess=0.9), "y": Real(0, 1, guess=0.9)}
    firsts = [Optimizer(space, seed=seed, constraints=["x + y <= 1.6"]).ask().params for seed in range(20)]
    assert np.mean([first["x"] + first["y"] for first in firsts]) > 1.15  # 0.95 of the allowed points in the mean


def test_parameters_that_do_not_exist_do_not_count() -> None:
    space = {
        "kind": Choice(["sgd", "adam"], guess="adam"),
        "momentum": Real(0, 1, when={"kind": "sgd"}, guess=0.9),
    }
    optimizer = Optimizer(space, seed=1)
    first = optimizer.ask()
    assert first.params == {"kind": "adam"}
    optimizer.tell(first, 1.0)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params.get("momentum", 0.2))
        assert "guess" not in trial.note or 0.0 < trial.note["guess"] <= 1.0


def bowl(x: float, y: float) -> float:
    return (x - 0.2) ** 2 + (y - 0.7) ** 2


def search(space: dict[str, Any], path: Path | None, budget: int) -> aegisbo.Result:
    return minimize(bowl, space, budget=budget, study=path, seed=3, executor="threads", workers=1)


def test_a_guess_may_change_when_a_study_goes_on_and_decisions_can_be_replayed(
    tmp_path: Path, logged: list[tuple[str, str]]
) -> None:
    path = tmp_path / "run.db"
    wrong, right, free = ({"x": Real(0, 1, guess=at), "y": Real(0, 1)} for at in (0.9, 0.2, None))
    before = search(wrong, path, 6)
    assert before.trials[0].params["x"] == pytest.approx(0.9)
    search(wrong, path, 7)
    assert not [text for _, text in logged if "other guesses" in text]
    result = search(right, path, 9)
    told = "run.db now has wider bounds or other guesses: {'x': Real(0.0, 1.0, guess=0.2)"
    assert [told in text for level, text in logged if level == "WARNING"] == [True]
    assert result.trials[:6] == before.trials
    search(free, path, 10)
    assert [event.kind for event in read_events(path)].count("widened") == 2
    found = replay(path)
    assert (found.decisions, found.faithful) == (10, True)
    notes = [trial.note for trial in aegisbo.load(path).trials]
    assert ["guess" in note for note in notes[6:]] == [True, True, True, False]


def test_nothing_changes_where_nothing_is_guessed() -> None:
    """The description of a space, and with it that of a study, is as older versions wrote it."""
    assert Optimizer(PLAIN, seed=0).state()["space"] == {
        "lr": {"type": "real", "low": 1e-6, "high": 0.1, "log": True},
        "units": {"type": "int", "low": 16, "high": 512, "log": False, "step": 1},
        "act": {"type": "choice", "values": ["a", "b", "c"]},
    }
