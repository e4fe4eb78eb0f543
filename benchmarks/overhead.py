"""What a run costs besides the function: 1,000 evaluations of nothing, every one of them on disk.

    python benchmarks/overhead.py [--evaluations N] [-o FILE]

Strategy `random`, a function that returns at once, a study on disk; ours with 4 processes and 4 threads, Optuna with
its SQLite and its journal file storage and 4 threads (n_jobs=4), one after the other in one run. Prints seconds per
evaluation and the ratio to Optuna's SQLite, which must be at most 1/5.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import optuna

import aegisbo

SPACE = {f"x{i}": aegisbo.Real(-5.0, 10.0) for i in range(6)}


def nothing(**x: float) -> float:
    return x["x0"]


def ours(executor: str) -> Callable[[Path, int], None]:
    def run(folder: Path, n: int) -> None:
        aegisbo.minimize(
            nothing, SPACE, budget=n, workers=4, strategy="random", executor=executor, seed=0, study=folder / "run.db"
        )

    return run


def theirs(storage: Callable[[Path], object]) -> Callable[[Path, int], None]:
    def objective(trial: optuna.Trial) -> float:
        return nothing(**{name: trial.suggest_float(name, p.low, p.high) for name, p in SPACE.items()})

    def run(folder: Path, n: int) -> None:
        study = optuna.create_study(storage=storage(folder), sampler=optuna.samplers.RandomSampler(seed=0))
        study.optimize(objective, n_trials=n, n_jobs=4)

    return run


def journal(folder: Path) -> optuna.storages.JournalStorage:
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    return optuna.storages.JournalStorage(backend)


CONTESTANTS = {
    "aegisbo, 4 processes": ours("processes"),
    "aegisbo, 4 threads": ours("threads"),
    "Optuna, SQLite": theirs(lambda folder: f"sqlite:///{folder / 'optuna.db'}"),
    "Optuna, journal file": theirs(journal),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("-o", type=Path, default=Path("overhead.json"))
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seconds = {}
    for name, run in CONTESTANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            run(Path(folder), options.evaluations)
            seconds[name] = (time.perf_counter() - begin) / options.evaluations
        print(f"{name:24} {seconds[name] * 1e3:8.2f} ms per evaluation", flush=True)
    for name in ("aegisbo, 4 processes", "aegisbo, 4 threads"):
        print(f"{name} / Optuna, SQLite: {seconds[name] / seconds['Optuna, SQLite']:.3f} (at most 0.200)")
    options.o.write_text(json.dumps(seconds, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
