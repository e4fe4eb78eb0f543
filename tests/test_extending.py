"""The package of docs/extending.md works as printed: it is written to disk, found through entry points, and used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shlex import split

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"

# What the page says can be done with the package, and what must come of it.
USES = """
import json
import aegisbo
from aegisbo.simulation import problems
from aegisbo_toy.strategies import Greedy, Neighbor

def moves(strategy):
    return [trial.note["move"] for trial in run(strategy).trials]

def run(strategy):
    bowl = problems.get("Bowl3")
    optimizer = aegisbo.Optimizer(list(bowl.bounds), strategy=strategy, seed=0)
    for _ in range(10):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.x))
    return optimizer

def points(strategy):
    return [trial.x.tolist() for trial in run(strategy).trials]

found = {
    "families": [family.name for family in problems.families()],
    "at the minimizer": problems.get("Bowl3")(problems.get("Bowl3").minimizers[0]),
    "fronts": problems.with_fronts(),
    "on the front": problems.get("Twins")([0.3, 0.3]),
    "moves by name": moves("neighbor:step=0.1"),
    "moves of the model": moves("greedy"),
    "as object": points(Neighbor(step=0.1)) == points("neighbor:step=0.1") != points("neighbor"),
}
print(json.dumps(found))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the modules of the page, and what an installer would write down of its pyproject.toml."""
    page = PAGE.read_text("utf-8")
    project = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])["project"]
    for name, text in re.findall(r"`(aegisbo_toy/\w+\.py)`:\n\n```python\n(.*?)```", page, re.DOTALL):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items()) for group, names in groups
    ]
    info.joinpath("entry_points.txt").write_text("\n".join(lines))
    return tmp_path


def call(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    child = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


def test_the_package_is_found_and_used_from_python(installed: Path) -> None:
    found = json.loads(call(installed, "-c", USES))
    assert "Bowls" in found["families"]
    assert found["at the minimizer"] == 0.0
    assert "Twins" in found["fronts"]
    assert found["on the front"] == pytest.approx({"near": 0.02, "far": 0.32})
    assert found["moves by name"] == ["initial"] * 6 + ["neighbor"] * 4
    assert found["moves of the model"] == ["initial"] * 6 + ["exploit"] * 4
    assert found["as object"]


@pytest.mark.long
def test_the_commands_of_the_page_work(installed: Path) -> None:
    (block,) = re.findall(r"```\n(pip install \./aegisbo-toy\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    strategies, bowls, twins = (
        call(installed, "-c", "from aegisbo.cli import main; main()", *split(command)[1:])
        for command in block.splitlines()
        if command.startswith("aegisbo ")
    )
    assert "neighbor" in strategies
    assert "Bowls#2" in bowls
    assert "Twins: gap after" in twins


def test_the_python_example_of_the_page_runs(installed: Path) -> None:
    example = re.findall(r"and in Python:\n\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    call(installed, "-c", example)
