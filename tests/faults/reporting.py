"""A run whose evaluations report, to be killed: `python reporting.py FOLDER BUDGET EXECUTOR [resumable]`."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from diary import BOX, append_line

import aegisbo

STEPS = 9
DEADLY = 0.3  # share of the points at which the worker dies on the first attempt


def value_of(x: float, y: float, step: int = STEPS) -> float:
    return x**2 + 3 * y + 10.0 / step


class Training:
    """Reports a curve; its worker may die in the middle, but not twice at a point."""

    def __init__(self, folder: Path, *, deadly: bool) -> None:
        self.folder, self.deadly = folder, deadly

    def __call__(self, x: list[float]) -> None:
        u, v = map(float, x)
        append_line(self.folder / "begun", {"x": [u, v], "pid": os.getpid()})
        for step in range(1, STEPS + 1):
            aegisbo.report(value_of(u, v, step), step)
            time.sleep(0.12)
            mark = self.folder / f"died.{u!r}"
            if self.deadly and step == 1 and (u * 1000) % 1 < DEADLY and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), 9)


class GoingOn(Training):
    """Writes each step that it has made into the folder of its trial, and goes on from there."""

    def __call__(self, x: list[float]) -> float:
        u, v = map(float, x)
        folder = aegisbo.worker().folder
        steps = folder / "steps"
        steps.touch()
        with suppress(FileExistsError):  # a second name, under which it outlives its folder
            (self.folder / f"steps.{folder.name}").hardlink_to(steps)
        for step in range(len(steps.read_text().splitlines()) + 1, STEPS + 1):
            append_line(steps, {"step": step, "x": [u, v]})
            aegisbo.report(value_of(u, v, step), step)
            time.sleep(0.12)
            if self.deadly and step == 2 and (u * 1000) % 1 < DEADLY:
                os.kill(os.getpid(), 9)
        return value_of(u, v)


def settings_of(kind: str) -> dict[str, Any]:
    """What decides the choices; at random, some that were stopped are among the best later."""
    rest = {"strategy": "random", "resumable": True} if kind == "resumable" else {}
    return {"seed": 11, "n_initial": 6, "stop_early": "ranks", "steps": STEPS, **rest}


def training(folder: Path, kind: str, *, deadly: bool) -> Training:
    """What is to be minimized."""
    return (GoingOn if kind == "resumable" else Training)(folder, deadly=deadly)


def main(folder: Path, budget: int, executor: str, kind: str) -> None:
    result = aegisbo.minimize(
        training(folder, kind, deadly=executor == "processes"), BOX, budget=budget, workers=3, study=folder / "run.db",
        executor=executor, **settings_of(kind),
    )  # fmt: skip
    sys.stdout.write(f"{result.ending}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
