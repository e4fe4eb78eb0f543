"""A run whose evaluations report, to be killed: `python reporting.py FOLDER BUDGET EXECUTOR`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

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


def main(folder: Path, budget: int, executor: str) -> None:
    result = aegisbo.minimize(
        Training(folder, deadly=executor == "processes"), BOX, budget=budget, workers=3, seed=11, n_initial=6,
        study=folder / "run.db", executor=executor, stop_early=True, steps=STEPS,
    )  # fmt: skip
    sys.stdout.write(f"{result.ending}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
