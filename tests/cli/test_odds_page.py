"""docs/odds.md works as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import blocks_of, said_by


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    said = said_by("odds.md", tmp_path)
    printed = next(text for kind, text in blocks_of("odds.md") if kind == "console")
    for line in printed.splitlines():
        assert line[:32] in said, line
    assert "chance of more than 0.5% better" in said
    assert "Going on is hardly worth it: 20 more evaluations have a" in said
