"""A page of the documentation, which does what is printed on it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PATIENCE = 600.0
PIECE = re.compile(r"(?:`([\w.]+)`:\s+)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    return [(kind, text) for _, kind, text in PIECE.findall(DOCS.joinpath(page).read_text("utf-8"))]


def program_of(page: str) -> str:
    return "".join(text for kind, text in blocks_of(page) if kind == "python")


def printed_by(program: str, folder: Path) -> str:
    """What a program prints in a folder, if it ends well."""
    return _output([sys.executable, "-c", program], folder).stdout


def said_by(page: str, folder: Path) -> str:
    """What the blocks of a page say, each a program of its own, in order, in one folder.

    A block that a line such as `run.py`: leads to is written into that file; only a script of the shell is run, too.
    Every line of a ```text block must have been said before, with other numbers or by another move perhaps; ... stands
    for anything.
    """
    said = ""
    for name, kind, block in PIECE.findall(DOCS.joinpath(page).read_text("utf-8")):
        if name:
            folder.joinpath(name).write_text(block, "utf-8")
        if kind == "sh" or (kind == "python" and not name):
            done = _output([sys.executable, "-c", block] if kind == "python" else ["sh", "-euc", block], folder)
            said += done.stdout + done.stderr
        elif kind == "text":
            for line in filter(None, map(str.strip, block.splitlines())):
                assert re.search(_pattern(line), said), line
    return said


def _pattern(line: str) -> str:
    """What a line looks like whatever its numbers are, and by whatever move a point was chosen."""
    words = re.split(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.sub(r"(?<=by the move )\w+", "...", line))
    return r"-?[\d.e+-]+".join(re.escape(word).replace(re.escape("..."), ".*") for word in words)


def _output(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command[-1]}\n{done.stderr[-3000:]}"
    return done
