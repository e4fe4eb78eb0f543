"""docs/troubleshooting.md quotes messages that the source still has."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from printed_page import DOCS

SOURCE = Path(__file__).parents[1] / "src" / "aegisbo"
PAGE = DOCS.joinpath("troubleshooting.md").read_text("utf-8")
QUOTED = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


def text_of(node: ast.AST) -> str:
    """A text of the program, with … where something is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(text_of, parts))
    return "…"


@cache
def texts() -> set[str]:
    """Of the whole program; when they are needed, because every process that collects tests imports this file."""
    return {
        text_of(node)
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant | ast.JoinedStr)
    }


def is_quoted_from(text: str, message: str) -> bool:
    """Whether the pieces of a message follow each other in a text."""
    end = 0
    for piece in (piece.strip() for piece in message.split("…")):
        end = text.find(piece, end) + len(piece)
        if end < len(piece):
            return False
    return True


@pytest.mark.parametrize("message", QUOTED)
def test_the_message_is_in_the_source(message: str) -> None:
    assert any(is_quoted_from(text, message) for text in texts())


def test_the_checker_goes_red() -> None:
    assert len(QUOTED) > 40
    assert not any(is_quoted_from(text, "There is no study fiel …: check the name.") for text in texts())
