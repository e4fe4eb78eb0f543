"""What a study file costs as trials grow: writing, size, load, show, export, report and opening to go on.

    python -m benchmarks.studies.size                     100,000 trials, ten parameters
    python -m benchmarks.studies.size --trials 10000

The events are those of a run of the modern preset, with made-up points and values. The first ones are written as a run
writes them, each safe on disk before the next; the others together. Each reader is a process of its own. Times are its
processor seconds, the start of Python and the imports included.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from aegisbo import Optimizer
from aegisbo.events import Asked
from aegisbo.outcome import Outcome
from aegisbo.study.study import Study

PARAMETERS = 10
SAFELY = 1000  # trials that are written one by one
COMMAND = "from aegisbo.cli import main; main()"
READERS = {
    "load": ["import aegisbo, sys; aegisbo.load(sys.argv[1])"],
    "show": [COMMAND, "show"],
    "export csv": [COMMAND, "export", "--to", "csv", "-o", os.devnull],
    "export json": [COMMAND, "export", "--to", "json", "-o", os.devnull],
    "report": [COMMAND, "report", "-o", os.devnull],
    "go on": [
        "import aegisbo, sys; "
        f"aegisbo.minimize(sum, [(-5.0, 10.0)] * {PARAMETERS}, budget=1, study=sys.argv[1], "
        "preset='modern', seed=0, executor='serial')"
    ],
}


def fill(study: Study, trials: int) -> float:
    """Write so many trials, and return how many events a second were safe on disk."""
    rng, initial, space = np.random.default_rng(0), 2 * PARAMETERS, study.optimizer.space
    phi = rng.normal(size=2 * PARAMETERS + 2).tolist()
    learned = {"phi": phi, "s": 1.0, "constant": phi[0], "fit": [], "opened_at": initial}
    note = {"move": "exploit", "coin": phi[2], "mean": phi[3], "std": phi[4], "lengthscale": phi[:PARAMETERS]}

    def write(numbers: range, seen: int) -> int:
        for number in numbers:
            params = space.check(rng.uniform(-5.0, 10.0, PARAMETERS))
            why, memory = ({"move": "initial"}, {}) if number < initial else (note, {**learned, "learned_at": number})
            study._log.append(Asked(number, params, why, memory, seen, 0.1))
            outcome = Outcome("done", float(rng.normal()), began=float(number), worker=number % 8)
            seen = study.ended(number, outcome, 1.0).id
        return seen

    begin = time.perf_counter()
    seen = write(range(min(SAFELY, trials)), study._seen)
    rate = 2 * min(SAFELY, trials) / (time.perf_counter() - begin)
    with _together(study):
        write(range(SAFELY, trials), seen)
    return rate


@contextmanager
def _together(study: Study) -> Iterator[None]:
    connection = study._store._connection
    connection.execute("BEGIN")
    yield
    connection.execute("COMMIT")


def seconds_of(code: str, arguments: list[str]) -> float:
    """Processor seconds of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        settings = Optimizer([(-5.0, 10.0)] * PARAMETERS, preset="modern", seed=0).settings
        with Study.open(path, settings) as study:
            rate = fill(study, options.trials)
            study.closed("The budget is spent.", [])
        print(f"{options.trials} trials: {path.stat().st_size / 1e6:.0f} MB, {rate:.0f} events a second, one by one")
        for name, (code, *words) in READERS.items():
            print(f"{name:12}{seconds_of(code, [*words[:1], str(path), *words[1:]]):8.1f} s", flush=True)
        print(f"largest reader {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
