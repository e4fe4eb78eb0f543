"""Trials of a study that are retried or forgotten: the next run heeds it, and every decision still replays."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

from aegisbo import Optimizer, load, minimize
from aegisbo.errors import AegisError, InvalidInput, StudyError, TrialError
from aegisbo.review.record import Record
from aegisbo.space import Choice, Int, Real
from aegisbo.study import forget, retry
from aegisbo.study.lock import DriverLock
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

SPACE = {"x": Real(-5, 10), "n": Int(2, 30), "kind": Choice(["a", "b"])}


class Bumpy:
    """Does not like multiples of seven until it is repaired, and counts its calls."""

    def __init__(self, broken: bool = True) -> None:
        self.broken = broken
        self.calls: list[dict[str, object]] = []

    def __call__(self, **params) -> float:
        self.calls.append(params)
        if self.broken and params["n"] % 7 < 2:
            raise RuntimeError("does not like sevens")
        return (params["x"] - 1) ** 2 + params["n"] / 10 + (params["kind"] == "b")


def run(path: Path, budget: int, broken: bool = True) -> Bumpy:
    """A run with a model; returns what was evaluated."""
    function = Bumpy(broken)
    given = {"n_initial": 4, "seed": 5, "executor": "threads", "workers": 1, "give_up_after": None}
    minimize(function, SPACE, budget=budget, study=path, **given)
    return function


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run.db"
    run(path, 9)
    return path


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    return Path(copy(finished, tmp_path))


def test_what_failed_is_run_again_with_its_number_and_point(study: Path) -> None:
    before = load(study).trials
    failed = [trial for trial in before if trial.state == "failed"]
    assert failed  # else there is nothing to see
    assert retry(study) == tuple(trial.number for trial in failed)
    assert load(study).nfev == 9 - len(failed)
    assert [trial.state for trial in load(study).trials if trial in failed] == []
    repaired = run(study, 9, broken=False)
    assert repaired.calls == [dict(trial.params) for trial in failed]  # these, and no others
    after = load(study).trials
    assert [trial.params for trial in after] == [trial.params for trial in before]
    assert {trial.state for trial in after} == {"done"}
    assert retry(study) == ()
    assert replay(study).differences == ()


def test_a_named_trial_is_run_again_although_it_has_a_value(study: Path) -> None:
    best = load(study).best
    assert best is not None
    assert retry(study, [best.number]) == (best.number,)
    assert load(study).trials[best.number].value is None
    (row,) = (row for row in Record.of_study(study).table if row["number"] == best.number)
    assert (row["state"], row["seconds"], row["ended_at"]) == ("pending", None, None)
    assert run(study, 9).calls == [dict(best.params)]
    assert load(study).best == best


def test_what_is_forgotten_counts_for_nothing(study: Path) -> None:
    best = load(study).best
    assert best is not None
    other = 1 if best.number == 0 else 0
    assert forget(study, [best.number, other, other]) == tuple(sorted({other, best.number}))
    result = load(study)
    assert result.nfev == 9 - 2
    assert result.best is not None
    assert result.best.number not in (best.number, other)
    others = run(study, 9)
    assert len(others.calls) == 2  # the budget is filled again
    assert load(study).nfev == 9


@pytest.mark.long
def test_every_decision_before_and_after_second_thoughts_replays(study: Path) -> None:
    """With a model, so that what a decision was shown decides it."""
    forget(study, [1, 3])
    run(study, 10)
    retry(study)
    retry(study, [2])
    run(study, 13, broken=False)
    forget(study, [len(load(study).trials) - 1, 5])
    run(study, 13, broken=False)
    found = replay(study)
    assert found.decisions == len(load(study).trials) > 13
    assert found.differences == ()
    moves = {trial.note["move"] for trial in load(study).trials}
    assert moves - {"initial"}


def test_the_log_keeps_everything(study: Path) -> None:
    before = read_events(study)
    forget(study, [4, 2])
    retry(study, [3])
    *old, forgotten, retried = read_events(study)
    assert old == before
    assert (forgotten.kind, forgotten.body) == ("forgotten", {"numbers": [2, 4]})
    assert (retried.kind, retried.body) == ("retried", {"numbers": [3]})


@pytest.mark.parametrize(
    ("change", "numbers", "message"),
    [
        (retry, [3, 9], "Trial 9 was never asked for: 9 trials are known"),
        (forget, [3, 9], "Trial 9 was never asked for: 9 trials are known"),
        (forget, [-1, 3], "Trial -1 was never asked for"),
        (forget, [3, 7], "Trial 7 was forgotten already"),
        (retry, [3, 7], "Trial 7 was forgotten: a forgotten trial cannot be retried"),
        (retry, [3, 8], "Trial 8 is pending: only a trial that has ended can be retried"),
        (retry, 3, "numbers must be a list of trial numbers, got 3"),
        (forget, "3-5", "numbers must be a list of trial numbers, got '3-5'"),
        (forget, [1, "3"], r"numbers must be a list of trial numbers, got \[1, '3'\]"),
        (retry, [True], r"numbers must be a list of trial numbers, got \[True\]"),
        (forget, None, "numbers must be a list of trial numbers, got None"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(study: Path, change, numbers, message: str) -> None:
    forget(study, [7])
    retry(study, [8])
    before = read_events(study)
    with pytest.raises(AegisError, match=message) as caught:
        change(study, numbers)
    assert isinstance(caught.value, TrialError | InvalidInput)
    assert read_events(study) == before
    assert [file.name for file in study.parent.iterdir()] == ["run.db"]


@pytest.mark.parametrize("change", [retry, lambda path: forget(path, [0])])
def test_a_study_that_is_being_driven_is_left_alone(study: Path, change) -> None:
    before = read_events(study)
    with DriverLock(study), pytest.raises(StudyError, match="is already being driven by this process"):
        change(study)
    assert read_events(study) == before


def test_nothing_is_made_beside_what_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"There is no study file .*run.db: check the name"):
        retry(tmp_path / "run.db")
    (tmp_path / "notes.txt").write_text("Dear diary")
    with pytest.raises(StudyError, match=r"notes.txt: it is not a study"):
        forget(tmp_path / "notes.txt", [0])
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_nothing_is_remembered_of_what_is_gone(study: Path) -> None:
    optimizer = Optimizer.over(State.after(read_events(study)).optimizer)
    assert optimizer.memory != {}
    forget(study, [7])
    optimizer.forget(7)
    assert optimizer.memory == State.after(read_events(study)).optimizer.memory == {}
    fresh = Optimizer.from_state({**optimizer.state(), "memory": {}})
    assert optimizer.ask().params == fresh.ask().params
