"""docs/constraints.md works as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import blocks_of, printed_by, program_of

BLOCKS = blocks_of("constraints.md")


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    printed = printed_by(program_of("constraints.md"), tmp_path)
    small, large = map(float, re.findall(r"'(?:small|large)': ([\d.]+)", printed)[:2])
    assert (small, large) == (pytest.approx(5, abs=0.1), pytest.approx(5, abs=0.1))
    (text,) = (text for kind, text in BLOCKS if kind == "text")
    for label in re.findall(r"^ *(\w+):", text, re.MULTILINE):
        assert re.search(rf"^ *{label}: ", printed, re.MULTILINE), label
    assert re.search(r"limits: latency <= 5: [\d.]+ \(binds\); memory <= 400: [\d.]+$", printed, re.MULTILINE)
