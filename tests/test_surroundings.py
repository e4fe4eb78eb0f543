"""The tests pass in any terminal: of any width, in any language, time zone and colors."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SENSITIVE = [  # to the width, to colors, and to both
    "tests/cli/test_simulate.py::test_output_fits_into_eighty_columns",
    "tests/cli/test_simulate.py::test_bad_options_have_the_same_exit_code",
    "tests/cli/test_show.py::test_which_trials_in_which_order",
]
ELSEWHERE = {"LANG": "C", "LC_ALL": "C", "TZ": "Asia/Kathmandu"}


@pytest.mark.long
@pytest.mark.parametrize(("width", "colors"), [(60, {"NO_COLOR": "1"}), (200, {"FORCE_COLOR": "1"})])
def test_what_reads_a_screen_passes_in_a_terminal_of_any_kind(width: int, colors: dict[str, str]) -> None:
    driver, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    bare = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    try:
        done = subprocess.run(
            [Path(sys.executable).with_name("pytest"), "-q", "-p", "no:cacheprovider", *SENSITIVE],
            cwd=ROOT,
            env=bare | ELSEWHERE | colors,
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=300,
        )
    finally:
        os.close(terminal)
        os.close(driver)
    assert done.returncode == 0, done.stdout
