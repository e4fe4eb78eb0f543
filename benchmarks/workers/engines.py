"""How many evaluations that do nothing each engine gets through in a second: two workers, random points.

    python -m benchmarks.workers.engines [--evaluations N] [ENGINE ...]

The engines are those of tests/engines (`tests/engines/requirements.txt` installs them), MPI apart, which needs
`mpiexec -n 3 python -m mpi4py.futures -m benchmarks.workers.engines MPI`. The time of the first evaluation, in which
the engine starts, is shown apart. Takes about two minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import aegisbo

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "engines"))

from engine_kinds import ENGINES, WORKERS


def nothing(x: object) -> float:
    return 1.0


def measured(name: str, evaluations: int) -> tuple[float, float]:
    """Seconds to the first value, and evaluations a second after it."""
    moments: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ENGINES[name].opened(Path(folder)) as executor:
        started = time.perf_counter()
        aegisbo.minimize(
            nothing,
            [(-5, 10), (2, 3)],
            budget=evaluations,
            workers=None if name == "serial" else WORKERS,
            strategy="random",
            executor=executor,
            callbacks=[lambda trial, result: moments.append(time.perf_counter())],
            seed=0,
        )
    return moments[0] - started, (len(moments) - 1) / (moments[-1] - moments[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", metavar="ENGINE")
    parser.add_argument("--evaluations", type=int, default=200)
    given = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # Parsl starts programs
    for name in given.engines or [name for name in ENGINES if name != "MPI"]:
        if ENGINES[name].package and find_spec(ENGINES[name].package) is None:
            print(f"{name:32} not installed")
            continue
        evaluations = 20 if name == "submitit" else given.evaluations  # each is a Python of its own
        first, rate = measured(name, evaluations)
        print(f"{name:32} first {first:6.2f} s   then {rate:8.1f} a second", flush=True)


if __name__ == "__main__":
    main()
