"""docs/plots.md works as printed, only faster: its blocks run in order as one program, and say what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "plots.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = "".join(text for kind, text in BLOCKS if kind == "python").replace("PACE = 1.0", "PACE = 0.1")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    for label in re.findall(r"^ *(\w[\w ]*):", "".join(text for kind, text in BLOCKS if kind == "text"), re.MULTILINE):
        assert re.search(rf"^ *{label}: ", done.stdout, re.MULTILINE), label
    written = sorted(file.stem for file in tmp_path.glob("*.[ps][nv]g"))
    assert written == ["contour", "convergence", "front", "importance", "reasons", "slices", "timeline"]


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE.read_text("utf-8"))
    assert pictures
    assert all((PAGE.parent / picture).is_file() for picture in pictures)
