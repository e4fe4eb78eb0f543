"""Output files of commands: checked before the work begins, written at its end."""

from __future__ import annotations

import os
from pathlib import Path

from aegisbo.errors import InvalidInput


def require_writable(file: Path) -> None:
    """Refuse a folder, a file that cannot be written, and a study, which would be lost."""
    from aegisbo.study.file import is_study

    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise InvalidInput(f"{file} cannot be written: give a file in a folder that exists and is yours.")
    if is_study(file):
        raise InvalidInput(f"{file} is a study, which would be lost: name another file.")


def write_whole(file: Path, text: str) -> None:
    """Write a text with its line ends unchanged."""
    try:
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}.") from error
