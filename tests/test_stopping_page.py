"""docs/stopping.md works as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import said_by


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    said = said_by("stopping.md", tmp_path)
    assert "stopped" in said.partition("sh train.sh")[2] or said.count("stopped") > 3
