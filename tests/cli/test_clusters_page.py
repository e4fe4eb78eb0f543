"""docs/clusters.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aegisbo.study import load
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2].joinpath("docs", "clusters.md").read_text("utf-8")
BLOCK = re.compile(r"(?:`(\w+\.\w+)`:\s+)?^```(python|toml|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATIENCE = 240.0


def test_the_blocks_run_and_the_budgets_are_met(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    spent = 0
    for name, kind, block in BLOCK.findall(PAGE):
        file = tmp_path / (name or "block.sh")
        file.write_text(block, "utf-8")
        if kind == "sh":
            done = subprocess.run(
                ["sh", "-eu", str(file)], cwd=tmp_path, env={**os.environ, "PATH": path},
                capture_output=True, text=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-3000:]
            spent += done.stdout.count("The budget is spent.")
    assert spent == 3 + 1 + 4 + 1  # a copy each
    for study, budget in (("run.db", 25), ("many.db", 20)):
        assert load(tmp_path / study).nfev == budget
        assert replay(tmp_path / study).differences == ()
