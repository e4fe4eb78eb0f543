"""The README works as printed: its blocks run in order, in a folder of their own, and its other commands exist.

A block is ```python or ```sh and runs as it stands, ```console and is only looked up (it installs something or takes
long), or ```text, which something printed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from aegisbo.cli import app

ROOT = Path(__file__).parents[1]
PAGE = ROOT.joinpath("README.md").read_text("utf-8")
PATIENCE = 600.0


class Block(NamedTuple):
    before: str  # the prose that leads to it
    kind: str
    text: str


def blocks_of(text: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"(.*?)^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]


SECTIONS = {
    heading: blocks_of(text) for heading, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.M)
}
BLOCKS = [block for blocks in SECTIONS.values() for block in blocks]
COMMANDS = [
    words
    for block in BLOCKS
    for line in block.text.splitlines()
    if block.kind == "console" and (words := shlex.split(line, comments=True))
]


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


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_other_commands_exist(words: list[str]) -> None:
    program, *arguments = words
    if program in ("aegisbo", "aegis-paper"):
        paper = pytest.importorskip("aegis_paper.cli") if program == "aegis-paper" else None
        group = typer.main.get_command(paper.app if paper else app)
        assert_options_exist(group.commands[arguments[0]], arguments[1:])  # type: ignore[attr-defined]
    elif program == "make":
        assert set(arguments) <= set(re.findall(r"^([a-z-]+):", ROOT.joinpath("Makefile").read_text(), re.MULTILINE))
    elif program == "pip":
        (target,) = [word for word in arguments if word.startswith(".")][:1]
        project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
        assert set(re.findall(r"\w+", target)) <= set(project["optional-dependencies"])
    else:
        assert program == ".venv/bin/python"
        source = ROOT.joinpath(arguments[0]).read_text("utf-8")
        for option in (word for word in arguments[1:] if word.startswith("-")):
            assert f'"{option}"' in source


def assert_options_exist(command: object, arguments: list[str]) -> None:
    known = {option for parameter in command.params for option in parameter.opts}  # type: ignore[attr-defined]
    for option in (word for word in arguments if word.startswith("-")):
        assert option in known
