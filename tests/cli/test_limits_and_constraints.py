"""`--constraint` and `--limit` of `aegisbo minimize`, as a user types them; programs that print what they measure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import call
from typer.testing import CliRunner

from aegisbo import load, minimize
from aegisbo.cli import app
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.runners.command import Command, ProgramFailed

SPACE = "".join(f'[{name}]\ntype = "real"\nlow = 0.0\nhigh = 1.0\n' for name in "ab")
MODULE = """
def f(a, b):
    return (a - 0.9) ** 2 + (b - 0.8) ** 2, {"latency": 10 * (a + b)}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "space.toml").write_text(SPACE, "utf-8")
    (tmp_path / "limited.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def minimized(*arguments: str, code: int = 0) -> str:
    common = ["--space", "space.toml", "--executor", "serial", "--seed", "1", "--quiet"]
    return call("minimize", "limited:f", *common, *arguments, code=code)


def test_a_run_with_both(folder: Path) -> None:
    given = ["--constraint", "a < b", "--limit", "latency <= 10", "--study", "run.db"]
    text = minimized(*given, "--budget", "10")
    assert "limit  latency <= 10: " in text
    result = load(folder / "run.db")
    assert all(trial.params["a"] < trial.params["b"] for trial in result.trials)
    shown = call("show", "run.db")
    assert "limit latency <= 10: " in shown
    assert "latency" in next(line for line in shown.splitlines() if line.startswith("trial"))
    assert f"latency  {result.trials[3].measured['latency']}" in call("show", "run.db", "--trial", "3")
    assert "measured_latency" in call("export", "run.db")
    assert "10 decisions" in call("replay", "run.db")
    minimized(*given, "--budget", "11")
    others = ["--executor", "serial", "--budget", "12", "--constraint", "a > b", "--study", "run.db"]
    with pytest.raises(StudyError, match="a < b in the study, a > b in this call"):
        CliRunner().invoke(app, ["minimize", "limited:f", "--space", "space.toml", *others], catch_exceptions=False)


def test_a_run_in_which_no_limit_was_kept_says_so(folder: Path) -> None:
    text = minimized("--limit", "latency >= 99", "--budget", "6", code=3)
    assert "No evaluation has kept all limits: x is the one that comes closest." in text
    assert "(broken)" in text
    assert "best   " in text


def test_a_wrong_constraint_is_one_sentence(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no parameter 'c'"):
        CliRunner().invoke(
            app, ["minimize", "limited:f", "--space", "space.toml", "--constraint", "a < c"], catch_exceptions=False
        )


def program(code: str, value_file: str | None = None) -> Command:
    return Command(f"{sys.executable} -c '{code}' {{a}} {{folder}}", value_file)


PRINTS = (
    'import sys; a = float(sys.argv[1]); print("log: x=1"); print("latency = ", 3 * a, sep=""); print(a); '
    'print("size=7")'
)


def test_a_program_prints_what_it_measures() -> None:
    command = program(PRINTS).measuring(["latency", "size"])
    assert command(a=0.5) == (0.5, {"latency": 1.5, "size": 7.0})
    assert program('print("latency=3"); print(4)')(a=0.5) == 4.0  # nobody asked for it
    with pytest.raises(ProgramFailed, match="must be one number, but was 'fast'"):
        program('print("latency=fast"); print(4)').measuring(["latency"])(a=0.5)


def test_a_file_holds_what_it_measures() -> None:
    code = 'import sys; open(sys.argv[2] + "/out", "w").write("3.5\\nlatency=2\\n")'
    assert program(code, "{folder}/out").measuring(["latency"])(a=0.5) == (3.5, {"latency": 2.0})
    with pytest.raises(ProgramFailed, match="left no file out"):
        program("pass", "{folder}/out").measuring(["latency"])(a=0.5)


def test_a_program_with_limits_is_minimized() -> None:
    result = minimize(
        program('import sys; a = float(sys.argv[1]); print("latency=", 3 * a, sep=""); print(-a)'),
        {"a": (0.0, 1.0)},
        limits=["latency <= 1.5"],
        budget=6,
        seed=0,
        executor="serial",
        progress=False,
    )
    assert result.success
    assert all(trial.measured["latency"] == 3 * trial.params["a"] for trial in result.trials)
    assert result.x["a"] <= 0.5
