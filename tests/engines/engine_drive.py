"""A driver on one engine: `python engine_drive.py ENGINE FOLDER SCENARIO`; prints how its runs ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine_jobs import BOX, Rough, train
from engine_kinds import ENGINES, WORKERS

import aegisbo


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(rough: Rough, executor: Any, budget: int, **options: Any) -> None:
    settings = {"seed": 3, "n_initial": 4, "raise_errors": False, "anyway": True, "progress": False, **options}
    study = rough.folder / "run.db"
    workers = None if executor == "serial" else WORKERS
    result = aegisbo.minimize(rough, BOX, budget=budget, workers=workers, executor=executor, study=study, **settings)
    say(result.message)


def faults(folder: Path, executor: Any) -> None:
    """A value, an exception, NaN and a death."""
    run(Rough(folder, {2: "raise", 4: "nan", 6: "die"}), executor, 10)


def hangs(folder: Path, executor: Any) -> None:
    """End with a job in flight, go on, and then have one that takes too long; the gate opens after all that."""

    def enough(trial: aegisbo.Trial, result: aegisbo.Result) -> None:
        if result.nfev == 4:
            raise StopIteration("Enough.")

    rough = Rough(folder, {2: "hang"})
    run(rough, executor, 8, callbacks=[enough])
    rough.open_gate()
    run(rough, executor, 8)
    (folder / "gate").unlink()
    rough = Rough(folder, {len(list(folder.glob("turn*"))) + 1: "hang"})
    run(rough, executor, 12, trial_timeout=3.0)
    say("returned")
    sys.stdin.readline()  # the test looks who is alive
    rough.open_gate()


def endless(folder: Path, executor: Any) -> None:
    """Go on until somebody presses Ctrl-C."""
    run(Rough(folder, seconds=0.2), executor, 100_000)


def more(folder: Path, executor: Any) -> None:
    """Go on a little after that."""
    run(Rough(folder), executor, len(aegisbo.load(folder / "run.db").trials) + 2)


def curves(folder: Path, executor: Any) -> None:
    """Evaluations that report, and are stopped where they can hear it, and may go on."""
    aegisbo.minimize(
        train, BOX, budget=8, workers=None if executor == "serial" else WORKERS, executor=executor, strategy="random",
        seed=3, stop_early="ranks", steps=9, resumable=True, study=folder / "run.db", progress=False,
    )  # fmt: skip


SCENARIOS: dict[str, Callable[[Path, Any], None]] = {
    scenario.__name__: scenario for scenario in (faults, hangs, endless, more, curves)
}

if __name__ == "__main__":
    engine, folder, scenario = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    with ENGINES[engine].opened(folder) as executor:
        SCENARIOS[scenario](folder, executor)
