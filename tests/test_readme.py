"""The README, and the pages it leads to first, work as printed: their blocks run in order, in a folder of their own.

A block is ```python or ```sh and runs as it stands, ```console and is only looked up (it installs something or takes
long: test_printed_commands.py), or ```text, which something printed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import DOCS, blocks_of, said_by

PAGES = ["../README.md", "index.md", "running.md", "programs.md", "loop.md", "choosing.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page: str) -> None:
    kinds = [kind for kind, _ in blocks_of(page)]
    assert set(kinds) <= {"python", "sh", "console", "text"}
    assert len(kinds) == DOCS.joinpath(page).read_text("utf-8").count("\n```") // 2


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_in_order(page: str, tmp_path: Path) -> None:
    said_by(page, tmp_path)
