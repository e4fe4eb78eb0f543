"""docs/plots.md works as printed, only faster: its blocks run in order as one program, and say what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import DOCS, blocks_of, printed_by, program_of

PAGE = DOCS / "plots.md"
BLOCKS = blocks_of("plots.md")


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = program_of("plots.md").replace("PACE = 1.0", "PACE = 0.1")
    printed = printed_by(program, tmp_path)
    for label in re.findall(r"^ *(\w[\w ]*):", "".join(text for kind, text in BLOCKS if kind == "text"), re.MULTILINE):
        assert re.search(rf"^ *{label}: ", printed, re.MULTILINE), label
    written = sorted(file.stem for file in tmp_path.glob("*.[ps][nv]g"))
    assert written == ["contour", "convergence", "curves", "decision", "importance", "reasons", "slices", "timeline"]


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE.read_text("utf-8"))
    assert pictures
    assert all((PAGE.parent / picture).is_file() for picture in pictures)
