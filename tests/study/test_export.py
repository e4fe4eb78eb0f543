"""Tables out of a study, against the optimizer itself."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from driven import ask

from aegisbo import Optimizer, load
from aegisbo.errors import StudyError, UnknownName
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome, Report
from aegisbo.review.record import Record
from aegisbo.space import Choice, Int, Real
from aegisbo.space.space import Space
from aegisbo.study import Study
from aegisbo.study.export import write
from aegisbo.study.reading import read_events

SPACE = Space({"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["re,lu", '"tanh"', None])})


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """One trial of each kind: done, done late, failed, invalid, timed out, pending."""
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(SPACE, strategy="random", seed=2)) as study:
        for _ in range(6):
            ask(study, 0.125)
        study.ended(0, Outcome("done", 1 / 3), 0.25)
        study.ended(1, Outcome("timed_out", reason="too slow", traceback=""), 1.0)
        study.ended(1, Outcome("done", 5e-324), 7.0)
        study.ended(2, Outcome("failed", reason='ValueError: "a, b"\nand more', traceback="Traceback ..."), 0.5)
        study.ended(3, Outcome("invalid", reason="nan", traceback=""), 0.125)
        study.ended(4, Outcome("timed_out", reason="too slow", traceback=""), 2.0)
        study.ended(5, Outcome("lost", reason="worker died"), 1.0)
    return path


def exported(study: Path, form: str) -> str:
    out = io.StringIO(newline="")
    write(study, form, out)
    return out.getvalue()


def reopened(study: Path) -> Optimizer:
    with Study.open(study, Settings.checked(SPACE, strategy="random")) as file:
        return file.optimizer


def test_csv_holds_every_trial(study: Path) -> None:
    table = list(csv.DictReader(io.StringIO(exported(study, "csv"), newline="")))
    trials = reopened(study).trials
    assert [row["state"] for row in table] == ["done", "done", "failed", "invalid", "timed_out", "pending"]
    for row, trial in zip(table, trials, strict=True):
        assert int(row["number"]) == trial.number
        assert row["state"] == trial.state
        assert (float(row["value"]) if row["value"] else None) == trial.value  # to the last digit
        assert float(row["param_lr"]) == trial.params["lr"]
        assert int(row["param_units"]) == trial.params["units"]
        assert row["param_act"] == str(trial.params["act"])
        assert row["move"] == trial.note["move"]
        assert (row["reason"] or None) == trial.reason
    assert [row["seconds"] for row in table] == ["0.25", "7.0", "0.5", "0.125", "2.0", ""]


def test_times_are_those_of_the_events_unless_measured_where_it_ran(study: Path) -> None:
    with Study.open(study, Settings.checked(SPACE, strategy="random")) as file:
        file.ended(5, Outcome("done", 1.0, seconds=0.5, began=1e9, worker=2), 0.5)
    at = {(event.kind, event.number): event.at for event in read_events(study)}
    table = Record.of_study(study).table
    assert [row["asked_at"] for row in table] == [at["asked", number] for number in range(6)]
    ends = [at["told", 0], at["told", 1], *(at["failed", number] for number in (2, 3, 4)), 1e9 + 0.5]
    assert [row["ended_at"] for row in table] == ends
    assert [row["started_at"] for row in table[1:]] == [ends[1] - 7, ends[2] - 0.5, ends[3] - 0.125, ends[4] - 2, 1e9]
    assert [row["worker"] for row in table] == [None] * 5 + [2]


def test_times_in_csv_are_iso_8601_with_their_zone(study: Path) -> None:
    for row, read in zip(
        Record.of_study(study).table, csv.DictReader(io.StringIO(exported(study, "csv"), newline="")), strict=True
    ):
        for name in ("asked_at", "started_at", "ended_at"):
            if row[name] is None:
                assert read[name] == ""
            else:
                moment = datetime.fromisoformat(read[name])
                assert moment.utcoffset() is not None
                assert moment.timestamp() == pytest.approx(row[name], abs=1e-3)


def test_points_observed_elsewhere_come_first(study: Path) -> None:
    with Study.open(study, Settings.checked(SPACE, strategy="random")) as file:
        file.observe([({"lr": 1e-3, "units": 20, "act": None}, Outcome("done", 7.0))])
    first = next(csv.DictReader(io.StringIO(exported(study, "csv"), newline="")))
    told = {name: first[name] for name in ("number", "state", "value", "move", "param_units", "asked_at", "reason")}
    assert told == {
        "number": "-1", "state": "done", "value": "7.0", "move": "observed", "param_units": "20", "asked_at": "",
        "reason": "",
    }  # fmt: skip


def test_json_holds_the_whole_optimizer(study: Path) -> None:
    document: dict[str, Any] = json.loads(exported(study, "json"))
    optimizer = reopened(study)
    state = {**document["optimizer"], "memory": {}, "observed": [], "trials": document["trials"]}
    assert Optimizer.from_state(state).state() == optimizer.state()
    assert document["table"] == Record.of_study(study).table
    assert document["build"]["aegisbo"]


def test_a_study_without_trials_exports_an_empty_table(tmp_path: Path) -> None:
    with Study.open(tmp_path / "run.db", Settings.checked(SPACE, strategy="random")):
        pass
    assert exported(tmp_path / "run.db", "csv") == "number\n"
    assert json.loads(exported(tmp_path / "run.db", "json"))["trials"] == []


def test_an_unknown_format_and_a_missing_file_are_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Unknown export format 'cvs': did you mean 'csv'"):
        exported(study, "cvs")
    with pytest.raises(StudyError, match="There is no study file"):
        exported(tmp_path / "nowhere.db", "csv")


def test_how_far_those_came_that_report_and_where_they_were_expected_to_end(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked({"x": (0.0, 1.0)}, strategy="random", seed=2, steps=3)) as study:
        for number in range(6):
            ask(study, 0.125)
            for step in range(1, 4 if number < 4 else 3):
                study.take_in(study.reported(number, Report(float(step), number - 0.1 * step)))
            if number < 4:
                study.take_in(study.ended(number, Outcome("done", number - 0.5)))
        study.take_in(study.ended(4, Outcome("stopped", reason="It fell behind.")))
        ask(study, 0.125)
        ends = study.optimizer.expected_ends()
    table = list(csv.DictReader(io.StringIO(exported(path, "csv"), newline="")))
    assert [row["step"] for row in table] == [*["3.0"] * 4, "2.0", "2.0", ""]
    assert [float(row["reported"]) for row in table[:6]] == [
        number - 0.1 * (3 if number < 4 else 2) for number in range(6)
    ]
    assert set(ends) == {4, 5}
    for number, row in enumerate(table):
        told = [row["expected_end"], row["expected_end_sd"]]
        assert told == (["", ""] if number not in ends else [str(ends[number].value), str(ends[number].sd)])
    frame = load(path).to_pandas()
    assert frame["step"].tolist()[:6] == [3.0] * 4 + [2.0] * 2
    assert frame["expected_end"].dropna().to_dict() == {number: end.value for number, end in ends.items()}
    assert frame["expected_end_sd"].dropna().to_dict() == {number: end.sd for number, end in ends.items()}
