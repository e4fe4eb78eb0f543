"""A line on files in a folder that both sides see: reports are appended to one, the last answer is in another."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from aegisbo.outcome import Report
from aegisbo.runners.reports import Line

LOOK = 0.1  # seconds between two looks for an answer


class FileLine(Line):
    """The end at which the evaluation is."""

    def __init__(self, marker: Path) -> None:
        super().__init__(self._append)
        self._reports, self._answer = files_of(marker)[1:]
        self._said = 0

    def say(self, report: Report, wait: float) -> None:
        self._append(report)
        self._said += 1
        deadline = monotonic() + wait
        while self._answered() < self._said and not self._stop and monotonic() < deadline:
            sleep(LOOK)

    def _append(self, report: Report) -> None:
        with self._reports.open("a", encoding="utf-8") as file:
            file.write(json.dumps(report) + "\n")

    def _answered(self) -> int:
        """How many reports were answered; the answer may be to stop."""
        with suppress(OSError, ValueError):  # there is none yet
            count, self._stop = json.loads(self._answer.read_text("utf-8"))
            return int(count)
        return 0


def files_of(marker: Path) -> tuple[Path, Path, Path]:
    """The marker, the reports, and the last answer."""
    return marker, marker.with_suffix(".reports"), marker.with_suffix(".answer")


def reports_since(marker: Path, begin: int) -> tuple[list[Report], int]:
    """The reports beyond the first bytes of the file, in whole lines, and how many bytes these are now."""
    try:
        data = files_of(marker)[1].read_bytes()[begin:]
    except FileNotFoundError:
        return [], begin
    whole = data[: data.rfind(b"\n") + 1]
    return [Report(*json.loads(line)) for line in whole.splitlines()], begin + len(whole)


def answer(marker: Path, count: int, reason: str) -> None:
    """Answer so many reports, the last one with this reason to stop, if there is one."""
    file = files_of(marker)[2]
    new = file.with_suffix(".new")
    with suppress(OSError):  # the next answer may come through
        new.write_text(json.dumps([count, reason]), encoding="utf-8")
        os.replace(new, file)
