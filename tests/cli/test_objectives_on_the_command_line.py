"""`--objective` of `aegisbo minimize` and `aegisbo work`, as a user types it."""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path

import pytest
from commands import call
from typer.testing import CliRunner

from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import InvalidInput, OneNumber, SeveralObjectives, StudyError
from aegisbo.review.board import Board

SPACE = "".join(f'[{name}]\ntype = "real"\nlow = 0.0\nhigh = 1.0\n' for name in "ab")
MODULE = """
def train(a, b):
    return {"accuracy": a + b, "latency": a * a + b}
"""
BOTH = ("--objective", "accuracy max", "--objective", "latency min")
RANDOM = ("--space", "space.toml", "--strategy", "random", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "space.toml").write_text(SPACE, "utf-8")
    (tmp_path / "objectives.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def minimized(*arguments: str, code: int = 0) -> str:
    return call("minimize", "objectives:train", *RANDOM, "--executor", "serial", *arguments, code=code)


def test_a_run_with_two_objectives_is_continued_by_a_copy_and_replayed(folder: Path) -> None:
    said = minimized(*BOTH, "--budget", "5", "--study", "run.db")
    result = load("run.db")
    assert [each.text for each in result.objectives] == ["accuracy max", "latency min"]
    assert f"front  {len(result.front)} trial" in said
    call("work", "run.db", "objectives:train", "--budget", "7", "--quiet")
    assert len(load("run.db").trials) == 7
    assert "All 7 decisions follow" in call("replay", "run.db")
    assert call("export", "run.db").startswith("number,state,value,param_a,param_b,measured_accuracy,measured_latency")


def test_a_mistake_is_told_in_a_sentence(folder: Path) -> None:
    def refused(*arguments: str) -> Exception:
        result = CliRunner().invoke(app, ["minimize", "objectives:train", *RANDOM, *arguments])
        assert isinstance(result.exception, Exception)
        return result.exception

    minimized(*BOTH, "--budget", "3", "--study", "run.db")
    assert isinstance(refused("--study", "run.db"), StudyError)
    for arguments in (BOTH[:2], (*BOTH, "--maximize"), (*BOTH, "--target", "1"), ("--objective", "accuracy up")):
        assert isinstance(refused(*arguments), InvalidInput), arguments


def test_reports_and_live_pages_show_it(folder: Path) -> None:
    minimized(*BOTH, "--budget", "3", "--study", "run.db")
    call("report", "run.db")
    assert '"front":{"trials":[' in (folder / "run.html").read_text("utf-8")
    board = Board([folder / "run.db"])
    board.start()
    try:
        _, facts = board.facts()
        assert [each["name"] for each in facts["studies"][0]["objectives"]] == ["accuracy", "latency"]
    finally:
        board.stop()


def columns_of(shown: str) -> list[dict[str, str]]:
    """The rows of the first table, by heading; the cells from the right, because that of the front may be empty."""
    lines = shown.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("trial  state"))
    rows = [line.split() for line in itertools.takewhile(str.strip, lines[start + 2 :])]
    heads = lines[start].split()[::-1]
    return [{**dict(zip(heads, row[::-1], strict=False)), "trial": row[0], "front": row[2]} for row in rows]


def test_show_lists_the_front_and_marks_it_in_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    minimized(*BOTH, "--budget", "20", "--seed", "3", "--study", "run.db")
    result = load("run.db")
    shown = call("show", "run.db")
    assert f"front: {len(result.front)} trial" in shown
    assert f"compromise: accuracy={result.compromise.measured['accuracy']:.6g}" in shown  # type: ignore[union-attr]
    assert f"hypervolume: {result.hypervolume()[-1]:.6g}, reference accuracy=" in shown
    rows = columns_of(shown)
    front = [trial.number for trial in result.front]
    assert sorted(front) == [int(row["trial"]) for row in rows if row["front"] == "yes"]
    assert [row["latency"] for row in rows] == [f"{trial.measured['latency']:.4g}" for trial in result.trials]
    assert 0 < len(front) < len(rows)
    assert [int(row["trial"]) for row in columns_of(call("show", "run.db", "--front"))] == front


def test_show_says_what_was_predicted_of_each_objective(folder: Path) -> None:
    arguments = ("--space", "space.toml", "--quiet", "--executor", "serial", *BOTH)
    call("minimize", "objectives:train", *arguments, "--budget", "6", "--study", "run.db")
    trial = load("run.db").trials[5]
    mean, std = trial.note["mean"], trial.note["std"]
    shown = call("show", "run.db", "--trial", "5")
    told = re.findall(r"^  (\w+) +(\S+) ± (\S+)$", shown, re.MULTILINE)
    assert told == [(name, f"{mean[name]:.6g}", f"{std[name]:.3g}") for name in ("accuracy", "latency")]
    assert "{" not in shown


def test_show_refuses_orders_that_there_are_not(folder: Path) -> None:
    minimized(*BOTH, "--budget", "3", "--study", "run.db")
    for arguments in (("--best", "2"), ("--sort", "value")):
        error = CliRunner().invoke(app, ["show", "run.db", *arguments]).exception
        assert isinstance(error, SeveralObjectives)
        assert f"which {arguments[0]} cannot order: use --front" in str(error)
    (folder / "one.py").write_text("def f(a, b):\n    return a\n", "utf-8")
    call("minimize", "one:f", *RANDOM, "--executor", "serial", "--budget", "2", "--study", "one.db")
    error = CliRunner().invoke(app, ["show", "one.db", "--front"]).exception
    assert isinstance(error, OneNumber)
    assert "there is no front: use --best" in str(error)


def test_tables_say_which_trials_are_on_the_front(folder: Path) -> None:
    minimized(*BOTH, "--budget", "20", "--seed", "3", "--study", "run.db")
    result = load("run.db")
    front = sorted(trial.number for trial in result.front)
    rows = list(csv.DictReader(call("export", "run.db").splitlines()))
    assert [int(row["number"]) for row in rows if row["front"] == "True"] == front
    table = result.to_pandas()
    assert table.index[table["front"]].tolist() == front
    assert table["measured_latency"].tolist() == [trial.measured["latency"] for trial in result.trials]
    assert "mean_latency" in table
    assert "mean" not in table
