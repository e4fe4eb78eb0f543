"""docs/spaces.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

from pathlib import Path

from printed_page import said_by


def test_the_blocks_run_and_say_what_is_printed(tmp_path: Path) -> None:
    points, vector, guessed, *_ = said_by("spaces.md", tmp_path).splitlines()
    assert points.startswith("{'lr': ")
    assert vector.startswith("[")
    assert guessed.startswith("{'lr': 0.001, 'units': 128, 'act': 'relu', 'dropout': ")
