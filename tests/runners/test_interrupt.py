"""Ctrl-C, pressed at awkward moments: what the handler raises, and what it lets end in peace."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from aegisbo.runners.interrupt import CtrlC
from aegisbo.runners.protocol import StopRun


def test_the_second_one_ends_the_run_and_further_ones_do_no_harm() -> None:
    said: list[str] = []
    with CtrlC(said.append) as ctrl_c:
        assert not ctrl_c.pressed
        signal.raise_signal(signal.SIGINT)
        assert ctrl_c.pressed
        with pytest.raises(StopRun, match=r"Stopped at once by Ctrl-C\."):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert len(said) == 1


def test_one_that_comes_while_the_first_is_answered_is_raised_after_the_answer() -> None:
    answered: list[str] = []

    def slow(text: str) -> None:
        signal.raise_signal(signal.SIGINT)  # logging would swallow what is raised here
        answered.append(text)

    with pytest.raises(StopRun), CtrlC(slow):
        signal.raise_signal(signal.SIGINT)
    assert len(answered) == 1


def test_systems_without_sigkill_can_still_import_minimize() -> None:
    code = "import signal; del signal.SIGKILL; import aegisbo; aegisbo.minimize"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
