"""`--objective` of `aegisbo minimize` and `aegisbo work`, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import InvalidInput, SeveralObjectives, StudyError
from aegisbo.report.board import Board

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


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def minimized(*arguments: str, code: int = 0) -> str:
    return run("minimize", "objectives:train", *RANDOM, "--executor", "serial", *arguments, code=code)


def test_a_run_with_two_objectives_is_continued_by_a_copy_and_replayed(folder: Path) -> None:
    said = minimized(*BOTH, "--budget", "5", "--study", "run.db")
    result = load("run.db")
    assert [each.text for each in result.objectives] == ["accuracy max", "latency min"]
    assert f"front  {len(result.front)} trial" in said
    run("work", "run.db", "objectives:train", "--budget", "7", "--quiet")
    assert len(load("run.db").trials) == 7
    assert "All 7 decisions follow" in run("replay", "run.db")
    assert run("export", "run.db").startswith("number,state,value,param_a,param_b,measured_accuracy,measured_latency")


def test_a_mistake_is_told_in_a_sentence(folder: Path) -> None:
    def refused(*arguments: str) -> Exception:
        result = CliRunner().invoke(app, ["minimize", "objectives:train", *RANDOM, *arguments])
        assert isinstance(result.exception, Exception)
        return result.exception

    minimized(*BOTH, "--budget", "3", "--study", "run.db")
    assert isinstance(refused("--study", "run.db"), StudyError)
    for arguments in (BOTH[:2], (*BOTH, "--maximize"), (*BOTH, "--target", "1"), ("--objective", "accuracy up")):
        assert isinstance(refused(*arguments), InvalidInput), arguments


def test_pages_say_that_they_cannot_show_it_yet(folder: Path) -> None:
    minimized(*BOTH, "--budget", "3", "--study", "run.db")
    assert isinstance(CliRunner().invoke(app, ["report", "run.db"]).exception, SeveralObjectives)
    board = Board([folder / "run.db"])
    board.start()
    try:
        _, facts = board.facts()
        assert facts["studies"] == []
        assert "live pages cannot show yet" in facts["waiting"][0]
    finally:
        board.stop()
