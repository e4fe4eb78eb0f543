"""docs/conditions.md works as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import blocks_of, printed_by, program_of

from aegisbo.space import Space, read_space

BLOCKS = blocks_of("conditions.md")


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    printed = printed_by(program_of("conditions.md"), tmp_path)
    (text,) = (text for kind, text in BLOCKS if kind == "text")
    for label in re.findall(r"^ *(\w+):", text, re.MULTILINE):
        assert re.search(rf"^ *{label}: ", printed, re.MULTILINE), label
    assert re.search(r"x: \{'optimizer': 'sgd', 'lr': [\d.]+, 'momentum': [\d.]+, 'layers': 2, ", printed)
    assert "'model': 'svm'" in printed


def test_the_space_file_is_the_space_of_the_program(tmp_path: Path) -> None:
    (toml,) = (text for kind, text in BLOCKS if kind == "toml")
    (tmp_path / "space.toml").write_text(toml, "utf-8")
    program = next(text for kind, text in BLOCKS if kind == "python")
    names: dict[str, object] = {}
    exec(program.partition("\n\n\ndef")[0], names)  # the page's own words
    assert read_space(tmp_path / "space.toml") == Space(names["space"])  # type: ignore[arg-type]
