"""docs/constraints.md works as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "constraints.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = "".join(text for kind, text in BLOCKS if kind == "python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    small, large = map(float, re.findall(r"'(?:small|large)': ([\d.]+)", done.stdout)[:2])
    assert (small, large) == (pytest.approx(5, abs=0.1), pytest.approx(5, abs=0.1))
    (text,) = (text for kind, text in BLOCKS if kind == "text")
    for label in re.findall(r"^ *(\w+):", text, re.MULTILINE):
        assert re.search(rf"^ *{label}: ", done.stdout, re.MULTILINE), label
    assert re.search(r"limits: latency <= 5: [\d.]+ \(binds\); memory <= 400: [\d.]+$", done.stdout, re.MULTILINE)
