"""aegisbo imports and runs where the paper's package is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "aegis_paper":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import importlib.metadata as metadata
found = metadata.entry_points

def entry_points(**group):  # other packages ask for all of them
    return [point for point in found(**group) if "aegis_paper" not in point.value] if group else found()

metadata.entry_points = entry_points
"""

EVERYTHING = """
import importlib, pkgutil
import aegisbo

for module in pkgutil.walk_packages(aegisbo.__path__, "aegisbo."):
    if module.name == "aegisbo.runners.pools.worker":
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name not in ("optuna", "gest_api", "ray"):  # extras
            raise
assert not [name for name in sys.modules if name.startswith("aegis_paper")]
"""

A_RUN = """
import aegisbo
from aegisbo.cli import app
from aegisbo.simulation import problems
from typer.testing import CliRunner

assert problems.families() == ()
result = aegisbo.minimize(lambda x: float(x @ x), [(-5, 10), (2, 3)], budget=8, executor="threads", seed=0)
assert result.nfev == 8
for command in (["problems"], ["strategies"], ["simulate", "--problem", "Branin", "--runs", "1", "--budget", "8"]):
    outcome = CliRunner().invoke(app, command)
    assert outcome.exit_code == 0, outcome.output
refused = CliRunner().invoke(app, ["simulate", "--problem", "push4#1", "--runs", "1"])
assert "Unknown problem 'push4'" in str(refused.exception)
"""


def without_the_paper(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_every_module_imports() -> None:
    without_the_paper(EVERYTHING)


@pytest.mark.long
def test_a_run_and_the_commands_work() -> None:
    without_the_paper(A_RUN)
