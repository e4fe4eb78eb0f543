"""An objective that misbehaves on the n-th call, and notes what it does where no crash can reach it.

In a module of its own, which workers import without the test libraries.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import aegisbo

BOX = [(-5, 10), (2, 3)]


def value_of(x: Any) -> float:
    return float(x[0] ** 2 + 3 * x[1])


def train(x: Any) -> None:
    """Report nine steps, from where it was, and end at the value."""
    made = aegisbo.worker().folder / "steps"
    for step in range(len(made.read_text()) + 1 if made.exists() else 1, 10):
        with made.open("a") as steps:
            steps.write("x")
        aegisbo.report(value_of(x) + (9.0 - step), step)
        time.sleep(0.25)


@dataclass(frozen=True)
class Rough:
    """Does what the plan says for the n-th call of all, by whatever worker; else returns a value."""

    folder: Path
    plan: Mapping[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __call__(self, x: Any) -> float:
        turn = self._turn()
        self._note(x, "begins", turn)
        behavior = self.plan.get(turn)
        if behavior == "raise":
            raise ValueError("diverged")
        if behavior == "die":
            os._exit(3)
        if behavior == "hang":
            self._hang()
        time.sleep(self.seconds)
        self._note(x, "ends", turn)
        return math.nan if behavior == "nan" else value_of(x)

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    def entries(self) -> list[dict[str, Any]]:
        path = self.folder / "diary"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def counts(self, what: str) -> Counter[tuple[float, ...]]:
        """How often each point began or ended."""
        return Counter(tuple(entry["x"]) for entry in self.entries() if entry["what"] == what)

    def _turn(self) -> int:
        for turn in count():
            try:
                os.close(os.open(self.folder / f"turn{turn}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return turn
        raise AssertionError

    def _hang(self) -> None:
        (self.folder / f"hangs.{os.getpid()}.pid").touch()
        while not (self.folder / "gate").exists():
            time.sleep(0.01)

    def _note(self, x: Any, what: str, turn: int) -> None:
        """One line in one write to the end of the file: whole or not at all, whoever writes or dies beside it."""
        entry = {"x": [float(u) for u in x], "what": what, "turn": turn, "slot": aegisbo.worker().slot}
        file = os.open(self.folder / "diary", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, f"{json.dumps(entry)}\n".encode())
        finally:
            os.close(file)
