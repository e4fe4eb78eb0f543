"""docs/known.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import said_by

from aegisbo import load
from aegisbo.study.replay import replay


@pytest.mark.long
def test_the_blocks_run_and_say_what_is_printed(tmp_path: Path) -> None:
    said = said_by("known.md", tmp_path)
    assert re.findall(r"(\d+) results used", said) == ["7", "7", "7", "3", "17", "10", "2", "2"]
    assert "7 of 20 earlier results used. Left out: 10 because units is not 64; 3 because lr" in said
    assert "{'lr': 0.01, 'momentum': 0.8} {'move': 'added'}" in said
    for study in ("new.db", "lab.db", "run.db"):
        assert replay(tmp_path / study).differences == ()
    result = load(tmp_path / "run.db")
    assert result.message == "The target 0.1 is reached."
    assert {"lr": 0.01, "momentum": 0.8} in [t.params for t in result.trials if t.note["move"] == "added"]
