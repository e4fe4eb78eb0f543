"""Reports of a program: lines such as step=3 value=0.71 that it prints while it runs."""

from __future__ import annotations

import math
import re
import subprocess

from aegisbo.errors import Stopped
from aegisbo.number import number_in
from aegisbo.runners.reports import report

LINE = re.compile(r"step\s*=\s*(\S+?)[,;]?\s+value\s*=\s*(\S+)")
GRACE = 10.0  # seconds from SIGTERM to SIGKILL


def as_printed_report(line: str) -> tuple[float, float] | None:
    """The step and the value in a line; None if it is no report."""
    found = LINE.fullmatch(line.strip())
    step, value = map(number_in, found.groups()) if found else (None, None)
    return None if step is None or value is None or not math.isfinite(step) else (step, value)


class PrintedReports:
    """Reports what a program prints, and ends the program when the run does not need it any more."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.stopped: Stopped | None = None
        self._process = process
        self._begun = ""  # of a line

    def heard(self, text: str) -> None:
        """Take what it has printed since the last call; of several reports the last one counts."""
        *lines, self._begun = (self._begun + text).split("\n")
        reports = [found for line in lines if (found := as_printed_report(line)) is not None]
        if not reports or self.stopped is not None:
            return
        step, value = reports[-1]
        try:
            report(value, step)
        except Stopped as stopped:
            self.stopped = stopped
            self._end()

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
