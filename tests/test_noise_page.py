"""docs/noise.md works as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "noise.md"


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    parabola, spread, beside, catalog = done.stdout.splitlines()
    assert re.fullmatch(r"\[ *\S+ +\S+\] \S+ \S+", parabola)
    assert re.match(r"\d+\.\d+ -?\d", spread)
    assert float(beside) > 0
    found = re.search(r"'size': \d\} (\d+) repeated$", catalog)
    assert found is not None
    assert int(found[1]) >= 30 - 12  # evaluations, points
