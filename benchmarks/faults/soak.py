"""Long runs: what memory, the study file and a suggestion do over thousands of evaluations.

    python -m benchmarks.faults.soak                  10,000 with random, 2,000 with aegis, 5,000 with real workers
    python -m benchmarks.faults.soak --share 0.01     a hundredth of each

Each run is a process of its own. The first two have virtual workers and a study file in which every event is safe on
disk before the next; the third evaluates nothing in two real worker processes. Prints a row for each quarter of a run:
memory of the driver, size of the study file, processor time of the driver for an evaluation, and time of a suggestion.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import aegisbo
from aegisbo.optimizer import Settings
from aegisbo.runners.loop import run
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import LAWS
from aegisbo.study.reading import read_events
from aegisbo.study.study import Study

BOX = [(-5.0, 10.0)] * 6
RUNS = {  # evaluations, strategy, virtual workers (0: two real ones)
    "random": (10_000, "random", 8),
    "aegis, 64 virtual workers": (2_000, "aegis", 64),
    "real evaluations of nothing": (5_000, "random", 0),
}
QUARTERS = 4


class Meter:
    """Notes memory, file size and processor time at the end of each quarter."""

    def __init__(self, study: Path, trials: int) -> None:
        self._study, self._marks = study, [trials * k // QUARTERS for k in range(1, QUARTERS + 1)]
        self._ended, self._before = 0, time.process_time()
        self.rows: list[tuple[int, float, float, float]] = []  # trials, MB, MB, seconds of the processor each

    def count(self, *job: object) -> None:
        """One more evaluation has ended."""
        self._ended += 1
        if self._ended in self._marks:
            now, since = time.process_time(), self.rows[-1][0] if self.rows else 0
            each = (now - self._before) / (self._ended - since)
            self.rows.append((self._ended, memory(), size(self._study), each))
            self._before = now


def memory() -> float:
    """Of this process, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def size(study: Path) -> float:
    """Of the study file and its write-ahead log, in MB."""
    return sum(file.stat().st_size for file in study.parent.glob("run.db*")) / 1e6


def simulated(trials: int, strategy: str, workers: int, study: Path, meter: Meter) -> None:
    problem = problems.get("Hartmann6")
    settings = Settings.checked(problem.bounds, strategy=strategy, seed=1)
    with Study.open(study, settings) as book:
        virtual = VirtualWorkers(problem, workers, LAWS["half-normal"], 1)
        run(book, virtual, trials, watch=meter.count)


def real(trials: int, strategy: str, study: Path, meter: Meter) -> None:
    aegisbo.minimize(
        nothing, BOX, budget=trials, workers=2, strategy=strategy, seed=1, study=study, callbacks=[meter.count]
    )


def nothing(x: object) -> float:
    return 0.0


def soak(name: str, trials: int, strategy: str, workers: int) -> None:
    """One run, and its rows."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        study, begin = Path(folder) / "run.db", time.monotonic()
        meter = Meter(study, trials)
        if workers:
            simulated(trials, strategy, workers, study, meter)
        else:
            real(trials, strategy, study, meter)
        for row in rows(name, study, meter):
            print(row, flush=True)
        print(f"{name}: {time.monotonic() - begin:.0f} s, {size(study):.2f} MB in the end", flush=True)


def rows(name: str, study: Path, meter: Meter) -> Iterator[str]:
    suggestions = [event.body["seconds"] for event in read_events(study) if event.kind == "asked"]
    since = 0
    for trials, used, file, each in meter.rows:
        suggestion = fmean(suggestions[since:trials])
        yield f"| {name} | {trials:,} | {used:.0f} | {file:.2f} | {1e3 * each:.2f} | {1e3 * suggestion:.2f} |"
        since = trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", choices=RUNS, help="one run, in this process")
    options = parser.parse_args()
    if options.only:
        trials, strategy, workers = RUNS[options.only]
        soak(options.only, int(trials * options.share), strategy, workers)
        return
    print(
        "| run | evaluations | memory, MB | file, MB | processor, ms each | suggestion, ms |\n|---|---|---|---|---|---|"
    )
    sys.stdout.flush()
    for name in RUNS:
        subprocess.run(
            [sys.executable, "-m", "benchmarks.faults.soak", "--share", str(options.share), "--only", name], check=True
        )


if __name__ == "__main__":
    main()
