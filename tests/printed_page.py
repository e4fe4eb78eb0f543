"""A page of the documentation, whose blocks of Python run in order as one program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PATIENCE = 600.0


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", DOCS.joinpath(page).read_text("utf-8"), re.DOTALL | re.MULTILINE)


def program_of(page: str) -> str:
    return "".join(text for kind, text in blocks_of(page) if kind == "python")


def printed_by(program: str, folder: Path) -> str:
    """What a program prints in a folder, if it ends well."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
