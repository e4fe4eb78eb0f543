"""A driver to be killed: `python drive.py FOLDER BUDGET OPTIONS`, options of `minimize` in JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from diary import BOX, Diary

import aegisbo


def drive(folder: Path, budget: int, seconds: float, **options: object) -> None:
    settings = {"strategy": "random", "seed": 11, "workers": 3, "study": folder / "run.db", **options}
    result = aegisbo.minimize(Diary(folder / "diary", seconds), BOX, budget=budget, **settings)
    sys.stdout.write(f"{result.message}\n")


if __name__ == "__main__":
    drive(Path(sys.argv[1]), int(sys.argv[2]), **json.loads(sys.argv[3]))
