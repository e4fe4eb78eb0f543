"""docs/known.md works as printed: its blocks run in order, in one folder."""

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

PAGE = Path(__file__).parents[2].joinpath("docs", "known.md").read_text("utf-8")
BLOCK = re.compile(r"(?:`(\w+\.\w+)`:\s+)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATIENCE = 240.0


def test_the_blocks_run_and_say_what_is_printed(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = ""
    for name, kind, block in BLOCK.findall(PAGE):
        if kind == "text":
            for line in block.splitlines():
                assert line in said
            continue
        file = tmp_path / (name or f"block.{kind}")
        file.write_text(block, "utf-8")
        if name:
            continue
        done = subprocess.run(
            ["sh", "-eu", str(file)] if kind == "sh" else [sys.executable, str(file)],
            cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        said += done.stdout + done.stderr
    assert re.findall(r"(\d+) results used", said) == ["7", "7", "7", "3", "17", "10", "2", "2"]
    assert "{'lr': 0.01, 'momentum': 0.8} {'move': 'added'}" in said
    for study in ("new.db", "lab.db", "run.db"):
        assert replay(tmp_path / study).differences == ()
    result = load(tmp_path / "run.db")
    assert result.message == "The target 0.1 is reached."
    assert {"lr": 0.01, "momentum": 0.8} in [t.params for t in result.trials if t.note["move"] == "added"]
