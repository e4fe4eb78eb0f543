"""`minimize` and `work` that begin with what earlier runs found: used, told, stored once, replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aegisbo
from aegisbo import Optimizer, Real, minimize
from aegisbo.errors import InvalidInput, StudyError, UnknownName
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work
from aegisbo.study import Earlier
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

OLD = {"lr": Real(1e-4, 1.0, log=True), "wd": Real(-2.0, 3.0)}
NEW = {"lr": Real(1e-3, 1.0, log=True), "wd": Real(-2.0, 8.0)}
SERIAL: Any = {"executor": "serial", "raise_errors": False, "seed": 4}


def loss(lr: float, wd: float) -> float:
    if wd > 2:
        raise ValueError("diverged")
    return (lr - 0.03) ** 2 + wd**2


@pytest.fixture
def old(tmp_path: Path) -> Path:
    minimize(loss, OLD, budget=12, study=tmp_path / "old.db", strategy="random", **SERIAL)
    return tmp_path / "old.db"


def observed_in(path: Path) -> list[tuple[dict[str, Any], str, float | None, str | None]]:
    return [(t.params, t.state, t.value, t.reason) for t in State.after(read_events(path)).optimizer.observed]


def test_a_study_over_another_range_is_used_as_far_as_it_fits(old: Path, tmp_path: Path, logged: list) -> None:
    before, path = aegisbo.load(old).trials, tmp_path / "new.db"
    fits = [trial for trial in before if trial.params["lr"] >= 1e-3]
    assert {trial.state for trial in fits} == {"done", "failed"}
    assert len(fits) < len(before)
    result = minimize(loss, NEW, budget=3, n_initial=0, observed=old, study=path, **SERIAL)
    assert observed_in(path) == [(t.params, t.state, t.value, t.reason) for t in fits]
    left_out = f"{len(before) - len(fits)} because lr is not in Real(0.001, 1.0, log=True)"
    assert ("WARNING", f"{old}: {len(fits)} of 12 earlier results used. Left out: {left_out}.") in logged
    assert (result.nfev, [trial.note["move"] == "initial" for trial in result.trials]) == (3, [False] * 3)

    witness = Optimizer(NEW, n_initial=0, seed=4)  # asked and told by hand
    for trial in fits:
        witness.observe(trial.params, float("nan") if trial.value is None else trial.value)
    assert witness.ask().params == result.trials[0].params


def test_the_new_study_needs_the_old_one_no_more(old: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    minimize(loss, NEW, budget=2, n_initial=0, observed=str(old), study=path, **SERIAL)
    known = observed_in(path)
    minimize(loss, NEW, budget=3, n_initial=0, observed=[str(old)], study=path, **SERIAL)  # not a second time
    assert observed_in(path) == known
    minimize(loss, OLD, budget=20, study=old, strategy="random", **SERIAL)  # which goes on meanwhile
    minimize(loss, NEW, budget=4, n_initial=0, observed=[old, aegisbo.load(old)], study=path, **SERIAL)
    assert observed_in(path)[: len(known)] == known
    news = [t for t in aegisbo.load(old).trials[12:] if t.params["lr"] >= 1e-3]
    assert [params for params, *_ in observed_in(path)[len(known) :]] == [t.params for t in news]
    old.unlink()
    result = minimize(loss, NEW, budget=5, n_initial=0, study=path, **SERIAL)
    assert result.nfev == 5
    found = replay(path)
    assert (found.decisions, found.differences) == (5, ())


def test_pairs_may_follow_earlier_results_and_come_again(old: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    pairs = [({"lr": 0.5, "wd": 1.0}, 3.0), ({"lr": 0.25, "wd": 1.5}, 2.0), ({"lr": 0.125, "wd": 0.5}, 1.0)]
    calls: list[Any] = [old, [pairs[0], old], [old, *pairs[:2]], pairs, [pairs[0]]]
    for budget, observed in enumerate(calls, start=1):
        minimize(loss, NEW, budget=budget, n_initial=0, observed=observed, study=path, **SERIAL)
    values = [value for *_, value, _ in observed_in(path)]
    earlier = [trial.value for trial in aegisbo.load(old).trials if trial.params["lr"] >= 1e-3]
    assert values == [*earlier, 3.0, 2.0, 1.0]
    assert replay(path).faithful
    with pytest.raises(StudyError, match=r"observed point 0 is .* in the study and .* in this call"):
        minimize(loss, NEW, budget=9, observed=[pairs[1]], study=path, **SERIAL)


def test_a_run_without_a_file_uses_them_too(old: Path) -> None:
    result = minimize(loss, OLD, budget=1, observed=[old, old, ({"lr": 0.03, "wd": 0.0}, -1.0)], **SERIAL)
    assert len(result.optimizer.observed) == 13
    assert (result.fun, result.best.number) == (-1.0, -1)


def test_a_new_parameter_is_given(old: Path) -> None:
    space = {**OLD, "momentum": (0.0, 1.0)}
    with pytest.raises(
        InvalidInput, match=r"none of 12 earlier results used. Left out: 12 because momentum is missing \(--"
    ):
        minimize(lambda lr, wd, momentum: 0.0, space, budget=1, observed=old, **SERIAL)
    source = Earlier(old, given={"momentum": "0.5"})
    result = minimize(lambda lr, wd, momentum: 0.0, space, budget=1, observed=source, **SERIAL)
    assert {trial.params["momentum"] for trial in result.optimizer.observed} == {0.5}


def test_values_of_another_function_are_taken_and_it_is_said(old: Path, logged: list) -> None:
    def other(lr: float, wd: float) -> float:
        return lr + wd

    minimize(other, OLD, budget=1, observed=old, **SERIAL)
    minimize(loss, OLD, budget=1, observed=old, **SERIAL)
    told = [text for level, text in logged if "was made for" in text]
    assert told == [
        f"{old} was made for loss of {__name__}, and this call gives other of {__name__}. This call takes its "
        "values for values of this function."
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maximize": True}, "old.db was minimized and this call maximizes: its best would be the worst here"),
        ({"observed": Earlier("old.db", given={"momentun": 1})}, "Unknown parameter in given 'momentun'"),
        ({"observed": Earlier("old.db", given={"lr": 7})}, r"Parameter 'lr': 7.0 is not within \[0.0001, 1.0\]"),
        ({"observed": Earlier("old.db", given=3)}, "given must be a dict of values by parameter, got 3"),
        ({"study": "old.db"}, "old.db is the study itself"),
        ({"observed": ["old.db", 3.0]}, "observed must hold pairs of a point and its value; entry 0 is 3.0"),
    ],
)
def test_bad_input_gets_one_sentence_and_makes_no_file(
    old: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(old.parent)
    before = old.read_bytes()
    with pytest.raises((InvalidInput, UnknownName), match=message):
        minimize(loss, OLD, budget=1, **{"observed": "old.db", "study": "new.db", **SERIAL, **options})
    assert [file.name for file in old.parent.iterdir()] == ["old.db"]
    assert old.read_bytes() == before


@pytest.mark.long
def test_copies_add_them_once(old: Path, tmp_path: Path) -> None:
    path, settings = tmp_path / "new.db", Settings.checked(NEW, strategy="random", seed=1)
    fits = [trial.params for trial in aegisbo.load(old).trials if trial.params["lr"] >= 1e-3]
    work(loss, path, settings, budget=1, observed=[Earlier(old)])
    work(loss, path, budget=2, observed=[Earlier(old)])
    work(loss, path, budget=3)
    assert [params for params, *_ in observed_in(path)] == fits
    assert replay(path).differences == ()
