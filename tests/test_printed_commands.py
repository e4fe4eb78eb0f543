"""Commands that are printed on a page and that no test runs, because they take long or install something, exist."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from aegisbo.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("paper/**/*.md"), ROOT / "benchmarks" / "README.md"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHONS = (".venv/bin/python ", ".venv-bench/bin/python ", "python -m ")
OURS = ("aegisbo ", "aegis-paper ", "make ", "pip install ", *PYTHONS)


def commands_of(page: Path) -> list[str]:
    """Of blocks that are not run, and of the prose."""
    if page.name == "CHANGELOG.md":
        return []  # what is gone has its place there
    text = page.read_text("utf-8")
    blocks = [block.replace("\\\n", " ") for kind, block in BLOCK.findall(text) if kind in ("", "console")]
    inline = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", BLOCK.sub("", text))]
    lines = [line for block in blocks for line in block.splitlines()]
    return sorted({line.partition(" # ")[0].strip() for line in (*lines, *inline) if line.startswith(OURS)})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for command in commands_of(page):
        assert_exists(command)


@pytest.mark.parametrize(
    "command",
    [
        "aegisbo shwo run.db",
        "aegisbo show --bets 3",
        "make dosc",
        "pip install '.[plto]'",
        ".venv/bin/python -m benchmarks.gone",
    ],
)
def test_the_checker_goes_red(command: str) -> None:
    with pytest.raises((AssertionError, OSError)):
        assert_exists(command)


def assert_exists(command: str) -> None:
    program, *words = re.sub(r'"[^"]*"', "...", command).split()
    arguments = words[2:] if words[0] == "-m" else words
    options = {word.partition("=")[0] for word in arguments if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}
    if program in ("aegisbo", "aegis-paper"):
        assert options <= options_of(program, words, command), command
    elif program == "make":
        assert set(words) <= set(re.findall(r"^([a-z-]+):", ROOT.joinpath("Makefile").read_text(), re.MULTILINE)), (
            command
        )
    elif program == "pip":
        project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
        extras = re.findall(r"(?:\.|aegisbo)\[([\w,]+)\]", command)
        assert {name for extra in extras for name in extra.split(",")} <= set(project["optional-dependencies"]), command
    else:
        source = program_of(words).read_text("utf-8")
        assert all(f'"{option}"' in source for option in options), command


def program_of(words: list[str]) -> Path:
    """The file that `python` runs with these arguments: a module, a folder that can be run, or a file."""
    if words[0] != "-m":
        return ROOT / words[0]
    path = ROOT / words[1].replace(".", "/")
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def commands_of_program(program: str) -> Any:
    paper = pytest.importorskip("aegis_paper.cli") if program == "aegis-paper" else None
    return typer.main.get_command(paper.app if paper else app)


def options_of(program: str, words: list[str], command: str) -> set[str]:
    """What a command, or a command of a group of commands, knows."""
    known = commands_of_program(program)
    for word in words:
        group = getattr(known, "commands", {})
        if not group or word.startswith("-") or (known.invoke_without_command and word not in group):
            break
        assert word in group, command
        known = group[word]
    return {option for parameter in known.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }
