"""Bounds may become wider when a study goes on: its points are kept, and its choices still follow from the record."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Result, load, minimize
from aegisbo.errors import StudyError
from aegisbo.review.record import Record
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.space.widening import differences, widened
from aegisbo.study.export import write
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

NARROW = {"x": Real(-5, 1), "n": Int(2, 8, step=2), "kind": Choice(["a", "b"])}
WIDE = {"x": Real(-9, 10), "n": Int(0, 14, step=2), "kind": Choice(["a", "b", "c"])}


def bumpy(x: float, n: int, kind: str) -> float:
    if n == 6:
        raise RuntimeError("does not like six")
    return (x - 3) ** 2 + n / 10 - (kind == "c")


def search(space: Any, path: Path, budget: int, **rest: Any) -> Result:
    given = {"strategy": "aegis", "n_initial": 5, "seed": 3, "executor": "threads", "workers": 2, **rest}
    return minimize(bumpy, space, budget=budget, study=path, **given)


@pytest.mark.parametrize("strategy", [pytest.param("aegis", marks=pytest.mark.long), "random"])
def test_a_widened_study_keeps_its_points_and_is_replayed(
    tmp_path: Path, logged: list[tuple[str, str]], strategy: str
) -> None:
    path = tmp_path / "run.db"
    before = search(NARROW, path, 9, strategy=strategy)
    result = search(WIDE, path, 20, strategy=strategy)
    wider = "now has wider bounds or other guesses: {'x': Real(-9.0, 10.0), 'n': Int(0, 14, step=2)"
    assert [wider in text for level, text in logged if level == "WARNING"].count(True) == 1
    assert result.trials[:9] == before.trials
    later = [trial.params for trial in result.trials[9:]]
    assert any(not -5 <= params["x"] <= 1 for params in later)
    assert replay(path).differences == ()
    assert load(path).trials == result.trials
    search(WIDE, path, 22, strategy=strategy)
    assert [event.kind for event in read_events(path)].count("widened") == 1
    found = replay(path)
    assert found.decisions == 22
    assert found.faithful


@pytest.mark.long
def test_a_model_finds_what_lies_beyond_the_old_bounds(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    narrow = search(NARROW, path, 9)
    wide = search(WIDE, path, 26)
    assert narrow.x["x"] <= 1 < wide.x["x"]
    assert wide.fun < narrow.fun


def test_the_optimizer_that_goes_on_is_one_that_observed_the_points_in_the_wide_space(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    search(NARROW, path, 9)
    search(WIDE, path, 10)
    optimizer = State.after(read_events(path)).optimizer
    assert optimizer.space == Space(WIDE)
    evidence, trials = optimizer.evidence(), [trial for trial in optimizer.trials if trial.state == "done"]
    np.testing.assert_array_equal(evidence.X, [Space(WIDE).to_unit(trial.params) for trial in trials])


def test_exports_know_the_wide_space(tmp_path: Path) -> None:
    path, out = tmp_path / "run.db", io.StringIO()
    search(NARROW, path, 9)
    search(WIDE, path, 12)
    write(path, "json", out)
    assert Space.from_description(json.loads(out.getvalue())["optimizer"]["space"]) == Space(WIDE)
    assert len(Record.of_study(path).table) == 12


def test_the_way_back_is_refused_with_the_one_line_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    search(NARROW, path, 3)
    search(WIDE, path, 4)
    with pytest.raises(StudyError) as caught:
        search({**WIDE, "x": (-5, 1)}, path, 5)
    assert str(caught.value) == (
        f"{path} holds another run: x: Real(-9.0, 10.0) in the study, Real(-5.0, 1.0) in this call (bounds may only "
        "become wider, and further choices come last). Use another file, or the same settings."
    )


def test_the_order_of_the_parameters_stays_the_studys() -> None:
    turned = Space({name: WIDE[name] for name in reversed(WIDE)})
    assert list(widened(Space(NARROW), turned).parameters) == list(NARROW)
    assert widened(Space([(0, 1)]), Space([(0, 2)])) == Space([(0, 2)])


REFUSED = [
    (Real(0, 1), Real(0, 0.5)),
    (Real(0, 1), Real(0.1, 2)),
    (Real(1, 2), Real(1, 2, log=True)),
    (Real(0, 1), Int(0, 1)),
    (Int(2, 8, step=2), Int(1, 9, step=2)),
    (Int(2, 8, step=2), Int(2, 8)),
    (Int(2, 8), Int(2, 8, log=True)),
    (Int(2, 8), Int(3, 9)),
    (Choice(["a", "b"]), Choice(["b", "a"])),
    (Choice(["a", "b"]), Choice(["c", "a", "b"])),
    (Choice(["a", "b", "c"]), Choice(["a", "b"])),
]


@pytest.mark.parametrize(("old", "new"), REFUSED)
def test_what_is_not_wider_is_a_difference(old: Any, new: Any) -> None:
    assert differences(Space({"lr": old}), Space({"lr": new})) == [f"lr: {old} in the study, {new} in this call"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((old, old) for old, _ in REFUSED),
        (Real(0, 1), Real(-1, 1)),
        (Real(1, 2, log=True), Real(0.1, 3, log=True)),
        (Int(2, 8, step=2), Int(0, 8, step=2)),
        (Choice(["a", "b"]), Choice(["a", "b", None])),
    ],
)
def test_what_is_wider_holds_every_old_value(old: Any, new: Any) -> None:
    assert differences(Space([old]), Space([new])) == []
    for share in np.linspace(0, 1, 7):
        value = old.decoded(np.full((1, old.axis.width), share)).item()
        assert new.check(value) == value


def test_parameters_that_come_or_go_are_differences() -> None:
    old, new = Space({"a": (0, 1), "b": (0, 1)}), Space({"b": (0, 1), "c": (0, 1)})
    assert differences(old, new) == [
        "a: Real(0.0, 1.0) in the study, nothing in this call",
        "c: nothing in the study, Real(0.0, 1.0) in this call",
    ]
    (words,) = differences(Space([(0, 1)]), Space({"x0": (0, 1)}))
    assert words == "the parameters have no names in the study, and names in this call"
