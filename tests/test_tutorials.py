"""The tutorials work as printed: their blocks run in order, in a folder of their own.

A block is ```python or ```sh and runs as it stands, ```bash or ```toml and is the file whose name stands before it,
```console and is only looked up (test_printed_commands.py), or ```text, which something printed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import DOCS, blocks_of, said_by

TUTORIALS = sorted(f"tutorials/{page.name}" for page in DOCS.glob("tutorials/*.md"))
NEEDS = {"tutorials/model.md": ["sklearn", "matplotlib"], "tutorials/optuna.md": ["optuna"]}


@pytest.mark.parametrize("page", TUTORIALS)
def test_every_block_says_what_it_is(page: str) -> None:
    kinds = [kind for kind, _ in blocks_of(page)]
    assert set(kinds) <= {"python", "sh", "bash", "toml", "console", "text"}
    assert len(kinds) == DOCS.joinpath(page).read_text("utf-8").count("\n```") // 2


@pytest.mark.long
@pytest.mark.parametrize("page", TUTORIALS)
def test_the_blocks_run_in_order(page: str, tmp_path: Path) -> None:
    for package in NEEDS.get(page, []):
        pytest.importorskip(package)
    said_by(page, tmp_path)
