"""What evaluations themselves say of their lives, written where no crash of aegisbo can reach it."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

BOX = [(-5, 10), (2, 3)]


def value_of(x: Any) -> float:
    return float(x[0] ** 2 + 3 * x[1])


def append_line(path: Path, entry: dict[str, Any]) -> None:
    """One line in one write to the end of the file: whole or not at all, whoever writes or dies beside it."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, (json.dumps(entry) + "\n").encode())
    finally:
        os.close(file)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """All that was appended."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@dataclass(frozen=True)
class Diary:
    """An objective that notes the begin and the end of each call, and takes as long as the point says."""

    path: Path
    seconds: float  # of the slowest point

    def __call__(self, x: np.ndarray) -> float:
        token = uuid4().hex
        self.note(x, "begins", token)
        time.sleep(self.seconds * (abs(x[0]) % 1))
        self.note(x, "ends", token)
        return value_of(x)

    def note(self, x: np.ndarray, what: str, token: str) -> None:
        append_line(self.path, {"x": [float(u) for u in x], "what": what, "token": token, "pid": os.getpid()})

    def entries(self) -> list[dict[str, Any]]:
        return lines_of(self.path)

    def pids(self) -> set[int]:
        return {entry["pid"] for entry in self.entries()}

    def counts(self, what: str) -> Counter[tuple[float, ...]]:
        """How often each point began or ended."""
        return Counter(tuple(entry["x"]) for entry in self.entries() if entry["what"] == what)
