"""docs/sklearn.md works as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "sklearn.md"


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert re.match(r"0\.9\d\d \{'svc__kernel': ", first)
    assert second.startswith("12 The budget is spent.")
