"""docs/stopping.md works as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import said_by

from aegisbo import load
from aegisbo.events import Resumed
from aegisbo.study.reading import read_events


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    said = said_by("stopping.md", tmp_path)
    assert "stopped" in said.partition("sh train.sh")[2] or said.count("stopped") > 3
    assert any(isinstance(event, Resumed) for event in read_events(tmp_path / "resume.db"))
    best = load(tmp_path / "resume.db").best
    assert best is not None
    assert (tmp_path / "resume.db.trials" / str(best.number) / "state.json").read_text().startswith("[27, ")
