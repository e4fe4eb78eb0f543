"""Replay: a run that was recorded faithfully comes out the same; the first decision that does not is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sealed import seal

from aegisbo import minimize
from aegisbo.space import Choice, Int, Real
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

SPACE = {"x": Real(-5, 10), "n": Int(2, 30), "kind": Choice(["a", "b"])}
BUDGET = 14


def bumpy(x: float, n: int, kind: str) -> float:
    if n % 7 == 0:
        raise RuntimeError("does not like sevens")
    return (x - 1) ** 2 + n / 10 + (kind == "b")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run with a model, failures and three workers at a time, in two sittings."""
    path = tmp_path_factory.mktemp("replay") / "run.db"
    for budget in (BUDGET // 2, BUDGET):
        minimize(bumpy, SPACE, budget=budget, workers=3, n_initial=4, seed=5, study=path, executor="threads")
    return path


@pytest.fixture
def study(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(recorded, tmp_path / "copy.db"))


def tamper(path: Path, kind: str, number: int | None, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the body of one event, as only somebody with a mind to could."""
    (event,) = (event for event in read_events(path) if (event.kind, event.number) == (kind, number))
    body = json.loads(json.dumps(event.body))
    change(body)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(body), event.id))
    seal(path)


def moves(path: Path) -> dict[int, str]:
    return {event.number: event.body["note"]["move"] for event in read_events(path) if event.kind == "asked"}


def first_by_model(path: Path) -> int:
    return min(number for number, move in moves(path).items() if move != "initial")


def test_a_real_run_is_replayed_to_the_last_digit(recorded: Path) -> None:
    ticks: list[tuple[int, int]] = []
    found = replay(recorded, lambda done, all: ticks.append((done, all)))
    assert found.differences == ()
    assert found.faithful
    assert found.largest_distance == 0.0
    assert found.decisions == BUDGET
    assert found.rebuilt == {}
    assert ticks == [(done, BUDGET) for done in range(1, BUDGET + 1)]
    assert len(set(moves(recorded).values())) > 1  # it was not all space-filling


def test_a_changed_point_is_named_first(study: Path) -> None:
    number = first_by_model(study) + 1
    before = next(e for e in read_events(study) if (e.kind, e.number) == ("asked", number)).body["params"]
    tamper(study, "asked", number, lambda body: body["params"].update(x=before["x"] * 0.99 + 0.01))
    found = replay(study)
    assert not found.faithful
    first = found.differences[0]
    assert first.number == number
    assert first.replayed == before
    assert first.recorded["x"] == before["x"] * 0.99 + 0.01
    assert first.distance == pytest.approx(abs(first.recorded["x"] - before["x"]) / 15)
    assert found.largest_distance == max(difference.distance for difference in found.differences)


def test_a_changed_memory_is_named(study: Path) -> None:
    number = first_by_model(study)
    tamper(study, "asked", number, lambda body: body["memory"].update(forged=1))
    found = replay(study)
    assert found.differences[0].number == number
    assert found.differences[0].distance == 0.0


def test_a_changed_value_changes_the_decisions_made_with_it(study: Path) -> None:
    value = next(event for event in read_events(study) if event.kind == "told")
    tamper(study, "told", value.number, lambda body: body.update(value=-1e3))
    knew = [e.number for e in read_events(study) if e.kind == "asked" and e.body["seen"] >= value.id]
    number = min(set(knew) & {number for number, move in moves(study).items() if move != "initial"})
    assert replay(study).differences[0].number == number


def test_a_decision_is_checked_against_what_was_known_then(study: Path) -> None:
    """The record claims less knowledge than the decision had."""
    number = max(moves(study))
    tamper(study, "asked", number, lambda body: body.update(seen=0))
    assert [difference.number for difference in replay(study).differences] == [number]


def test_on_another_build_the_distance_is_reported(study: Path) -> None:
    tamper(study, "created", None, lambda body: body["build"].update(numpy="0.9", cpu="Z80"))
    number = first_by_model(study)
    tamper(study, "asked", number, lambda body: body["params"].update(x=body["params"]["x"] + 1e-9))
    found = replay(study)
    assert set(found.rebuilt) == {"numpy", "cpu"}
    assert found.rebuilt["numpy"] == ("0.9", np.__version__)
    assert found.rebuilt["cpu"][0] == "Z80"
    assert found.differences[0].distance == pytest.approx(1e-9 / 15, rel=1e-4)
    assert found.largest_distance >= found.differences[0].distance
