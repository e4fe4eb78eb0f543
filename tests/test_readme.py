"""The README works as printed: its blocks run in order, in a folder of their own.

A block is ```python or ```sh and runs as it stands, ```console and is only looked up (it installs something or takes
long: test_printed_commands.py), or ```text, which something printed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT.joinpath("README.md").read_text("utf-8")
PATIENCE = 600.0


class Block(NamedTuple):
    before: str  # the prose that leads to it
    kind: str
    text: str


def blocks_of(text: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"(.*?)^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]


PARTS = [part.partition("\n") for part in re.split("^## ", PAGE, flags=re.M)[1:]]
SECTIONS = {heading: blocks_of(text) for heading, _, text in PARTS}
BLOCKS = [block for blocks in SECTIONS.values() for block in blocks]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where `python` and `aegisbo` are the ones under test."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, rest in {"python": "", "aegisbo": " -c 'from aegisbo.cli import main; main()'"}.items():
        bin_folder.joinpath(name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{rest} "$@"\n')
        bin_folder.joinpath(name).chmod(0o755)
    return {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}


def printed_by(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """Run a block, or write it to the file that the line before it names; what it printed."""
    if file := re.search(r"`(\w+\.py)`:\s*\Z", block.before):
        (folder / file[1]).write_text(block.text, "utf-8")
        return ""
    command = ["sh", "-eu", "-c", block.text] if block.kind == "sh" else [sys.executable, "-c", block.text]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, f"{block.text}\n{done.stderr}"
    return done.stdout


def test_every_block_says_what_it_is() -> None:
    assert {block.kind for block in BLOCKS} == {"python", "sh", "console", "text"}
    assert len(BLOCKS) == PAGE.count("\n```") // 2


@pytest.mark.long
@pytest.mark.parametrize(
    "section", [name for name, blocks in SECTIONS.items() if {"python", "sh"} & {b[1] for b in blocks}]
)
def test_the_blocks_of_a_section_run_in_order(section: str, tmp_path: Path, environment: dict[str, str]) -> None:
    output = ""
    for block in SECTIONS[section]:
        if block.kind in ("python", "sh"):
            output += printed_by(block, tmp_path, environment)
        elif block.kind == "text":  # values may differ, but not what is said of what
            for label in re.findall(r"^ *(\w+):", block.text, re.MULTILINE):
                assert re.search(rf"^ *{label}: ", output, re.MULTILINE), label
