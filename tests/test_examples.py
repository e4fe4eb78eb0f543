"""Every example runs, or says in one sentence which package it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
PATIENCE = 900.0
QUICK = {"ask_tell"}
ALL = {file.stem for file in FOLDER.glob("*.py")}
NEEDS = {
    "dask_cluster": ["distributed"],
    "optuna_journal": ["optuna"],
    "optuna_postgres": ["optuna", "psycopg"],
    "optuna_sklearn": ["optuna", "sklearn"],
    "optuna_threads": ["optuna"],
    "sklearn_search": ["sklearn"],
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
    postgres = shutil.which("pg_ctl") or [*Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")]
    if name == "optuna_postgres" and not postgres:
        pytest.skip("PostgreSQL is not installed.")
    assert re.search(r"success: True|best:? \d", assert_runs(name, tmp_path))


@pytest.mark.long
def test_the_tuned_classifier_is_better_than_the_default_and_the_study_is_not_run_again(tmp_path: Path) -> None:
    output = assert_runs("tune_classifier", tmp_path)
    default, tuned = (float(share) for share in re.findall(r"([\d.]+)%", output))
    assert tuned < default
    assert assert_runs("tune_classifier", tmp_path) == output


@pytest.mark.parametrize("name", sorted(ALL))
def test_an_example_compiles_and_says_how_to_run_it(name: str) -> None:
    source = FOLDER.joinpath(f"{name}.py").read_text("utf-8")
    compile(source, name, "exec")
    assert f"python examples/{name}.py" in source


@pytest.mark.parametrize(("name", "package"), [(name, package) for name in NEEDS for package in NEEDS[name]])
def test_a_missing_package_is_named_in_one_sentence(name: str, package: str, tmp_path: Path) -> None:
    done = run(tmp_path, "-c", WITHOUT, str(FOLDER / f"{name}.py"), package)
    assert done.returncode == 1
    assert re.fullmatch(r"This example needs .*: pip install .*\n", done.stderr)
