"""Makes best2009.csv: how many evaluations the best algorithm of BBOB 2009 needed, by function, dimension and target.

    python -m benchmarks.problems.best2009 cocopp-2.9.1.tar.gz     (`pip download --no-deps cocopp` fetches it)

The data are part of cocopp: `refalgs/best2009-bbob.tar.gz`, BSD 3-clause, copyright 2013-2024 by the NumBBO/CoCO team.
For each target they name the least expected number of evaluations among 31 algorithms. So it is another algorithm for
each target, chosen afterwards, and a sequential one.
"""

from __future__ import annotations

import csv
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

DIMENSIONS = (2, 5, 10)
ARCHIVE = "refalgs/best2009-bbob.tar.gz"
FILE = Path(__file__).parents[1] / "results" / "best2009.csv"


def main() -> None:
    with tarfile.open(sys.argv[1]) as package:
        (member,) = (name for name in package.getnames() if name.endswith(ARCHIVE))
        with tarfile.open(fileobj=package.extractfile(member)) as archive, FILE.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["function", "dimension", "target", "evaluations"])
            for d in DIMENSIONS:
                for function in range(1, 25):
                    for target, evaluations in _steps(archive, function, d):
                        writer.writerow([function, d, f"{target:.4g}", f"{evaluations:g}"])


def _steps(archive: tarfile.TarFile, function: int, d: int) -> Iterator[tuple[float, float]]:
    """Each target with its evaluations; a target that costs no more than the one above it is not in the file."""
    lines = archive.extractfile(f"best2009-bbob/bbob-bestalg_f{function:02}_d{d:02}.dat")
    for line in lines.read().decode().splitlines():
        if not line.startswith("%"):
            evaluations, target, *_ = line.split()
            yield float(target), float(evaluations)


if __name__ == "__main__":
    main()
