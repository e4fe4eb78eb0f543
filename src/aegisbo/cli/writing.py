"""Whether a file that a command is to write can be written, asked before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from aegisbo.errors import InvalidInput


def require_writable(file: Path) -> None:
    """Refuse a file in a folder that does not exist or is not ours."""
    if not os.access(file.parent, os.W_OK):
        raise InvalidInput(f"{file} cannot be written: give a file in a folder that exists and is yours.")
