"""What is released: bounds that are tried, a recipe that agrees with the project, and a wheel that runs."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from runpy import run_path

import pytest

import aegisbo

ROOT = Path(__file__).parents[1]
RELEASE = ROOT / "release"
PROJECT = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENT = re.compile(r"([\w-]+) ?>=([\d.]+)")
PATIENCE = 1200.0


def bounds(requirements: list[str]) -> dict[str, str]:
    """The oldest version of each package."""
    return {found[1]: found[2] for each in requirements if (found := REQUIREMENT.fullmatch(each))}


def test_the_oldest_versions_that_are_tried_are_those_that_are_allowed() -> None:
    allowed = bounds([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["optuna"]])
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", RELEASE.joinpath("oldest.txt").read_text("utf-8"), re.MULTILINE))
    assert pins.keys() == allowed.keys()
    for name, version in pins.items():
        assert f"{version}.".startswith(f"{allowed[name]}."), name


def test_the_recipe_asks_for_what_the_project_asks_for() -> None:
    recipe = RELEASE.joinpath("recipe.yaml").read_text("utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = bounds([line.strip(" -") for line in run.splitlines()])
    assert found == bounds(PROJECT["dependencies"])
    assert re.search(r'^  version: "(.*)"$', recipe, re.MULTILINE)[1] == aegisbo.__version__
    assert re.search(r'^  python_min: "(.*)"$', recipe, re.MULTILINE)[1] == PROJECT["requires-python"].lstrip(">=")


def test_the_page_on_installing_names_every_extra_and_no_other() -> None:
    page = ROOT.joinpath("docs", "installing.md").read_text("utf-8")
    table = page.partition("| extra | adds |\n|---|---|\n")[2].partition("\n\n")[0]
    named = [name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", line.split("|")[1])]
    assert sorted(named) == sorted(PROJECT["optional-dependencies"])


def test_every_extra_is_tried_in_a_clean_environment() -> None:
    extras = PROJECT["optional-dependencies"].keys() - {"dev"}  # which is for the tests themselves
    assert {*run_path(str(RELEASE / "try_installs.py"))["kinds"]()} == {"plain", "oldest", *extras}
    assert run_path(str(RELEASE / "smoke.py"))["EXTRAS"].keys() == extras
    told = ROOT.joinpath("docs", "installing.md").read_text("utf-8").partition("## Where it was tried")[2]
    assert {name for name in extras if re.search(rf"^\|.*`{name}`", told, re.MULTILINE)} == extras


@pytest.mark.long
def test_the_wheel_runs_in_a_clean_environment_and_the_sdist_has_the_tests(tmp_path: Path) -> None:
    command = [sys.executable, RELEASE / "try_installs.py", "--only", "plain", "--folder", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert "| plain | " in done.stdout
    assert f"aegisbo {aegisbo.__version__}, imported in" in done.stdout
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "conftest.py", "docs/design.md"} <= held
    assert not [name for name in held if name.endswith((".pyc", ".db-wal"))]
