"""Every example runs, or says in one sentence which package it needs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
PATIENCE = 900.0
QUICK = {"ask_tell"}
ALL = {file.stem for file in FOLDER.glob("*.py")}
NEEDS = {
    "engines": ["distributed"],
    "optuna_processes": ["optuna"],
    "optuna_sklearn": ["optuna", "sklearn"],
    "tune_classifier": ["sklearn"],
}
WITHOUT = "import runpy, sys; sys.modules[sys.argv[2]] = None; runpy.run_path(sys.argv[1], run_name='__main__')"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def assert_runs(name: str, folder: Path) -> str:
    done = run(folder, str(FOLDER / f"{name}.py"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_quick_example_runs(name: str, tmp_path: Path) -> None:
    assert "success: True" in assert_runs(name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ALL - QUICK - {"tune_classifier"}))
def test_a_slow_example_runs(name: str, tmp_path: Path) -> None:
    assert re.search(r"success: True|best:? \d", assert_runs(name, tmp_path))


@pytest.mark.long
def test_the_tuned_classifier_is_better_than_the_default_and_the_study_is_not_run_again(tmp_path: Path) -> None:
    output = assert_runs("tune_classifier", tmp_path)
    default, tuned = (float(share) for share in re.findall(r"([\d.]+)%", output))
    assert tuned < default
    assert assert_runs("tune_classifier", tmp_path) == output


@pytest.mark.parametrize("name", sorted(ALL))
def test_an_example_says_what_one_learns_and_how_to_run_it(name: str) -> None:
    words = ast.get_docstring(ast.parse(FOLDER.joinpath(f"{name}.py").read_text("utf-8")))
    assert words is not None
    assert words.startswith("Learn ")
    assert f"python examples/{name}.py" in words
    assert f"({name}.py)" in FOLDER.joinpath("README.md").read_text("utf-8")


@pytest.mark.parametrize(("name", "package"), [(name, package) for name in NEEDS for package in NEEDS[name]])
def test_a_missing_package_is_named_in_one_sentence(name: str, package: str, tmp_path: Path) -> None:
    done = run(tmp_path, "-c", WITHOUT, str(FOLDER / f"{name}.py"), package)
    assert done.returncode == 1
    assert re.fullmatch(r"This example needs .*: pip install .*\n", done.stderr)
