"""docs/advise.md works as printed, only faster: its blocks run in order, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "advise.md"
BLOCK = re.compile(r"(?:`(\w+\.\w+)`:\s+)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATIENCE = 600.0
FASTER = {"PACE = 1.0": "PACE = 0.02", "--jobs 2": "--runs 1"}


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = ""
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    for name, kind, block in blocks:
        if kind == "text":
            continue
        for slow, fast in FASTER.items():
            block = block.replace(slow, fast)
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
        said += done.stdout
    (table,) = [block for _, kind, block in blocks if kind == "text"]
    for line in table.splitlines():
        title = re.split(r"  +", line)[0]
        assert re.search(rf"^{re.escape(title)}  ", said, re.MULTILINE), title
    assert said.count("8 workers") >= 2
    assert {file.name for file in tmp_path.glob("advice.*")} == {"advice.png", "advice.svg"}


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE.read_text("utf-8"))
    assert pictures
    assert all((PAGE.parent / picture).is_file() for picture in pictures)
