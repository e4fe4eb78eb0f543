"""docs/noise.md works as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import printed_by, program_of


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    printed = printed_by(program_of("noise.md"), tmp_path)
    parabola, spread, beside, catalog = printed.splitlines()
    assert re.fullmatch(r"\[ *\S+ +\S+ *\] \S+ \S+", parabola)
    assert re.match(r"\d+\.\d+ -?\d", spread)
    assert float(beside) > 0
    found = re.search(r"'size': \d\} (\d+) repeated$", catalog)
    assert found is not None
    assert int(found[1]) >= 30 - 12  # evaluations, points
