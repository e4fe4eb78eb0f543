"""docs/start.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import said_by

from aegisbo import load


@pytest.mark.long
def test_the_blocks_run_and_say_what_is_printed(tmp_path: Path) -> None:
    said_by("start.md", tmp_path)
    result = load(tmp_path / "bread.db")
    assert result.nfev == 40
    assert result.fun < 0.1
    assert (tmp_path / "bread.html").stat().st_size > 100_000
    assert (tmp_path / "bread.png").is_file()
