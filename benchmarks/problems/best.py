"""What the best published algorithms needed on COCO's suites: evaluations by function, dimension and target.

    python -m benchmarks.problems.best cocopp-2.9.1.tar.gz     (`pip download --no-deps cocopp` fetches it)

This makes best2009.csv (BBOB, the best of 31 algorithms), best2016.csv (bbob-biobj, the best of 15), best2016noisy.csv
(bbob-noisy, the best of 49, 2009 to 2016) and best2019large.csv (bbob-largescale, the best until 2019). The data are
part of cocopp: `refalgs/*.tar.gz`, BSD 3-clause, copyright 2013-2024 by the NumBBO/CoCO team. For each target they name
the least expected number of evaluations. So it is another algorithm for each target, chosen afterwards, and a
sequential one.
"""

from __future__ import annotations

import csv
import sys
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
# By the name of the file: the archive in cocopp, its data, the functions, and the dimensions that are kept.
DATA = "{archive}/bbob-bestalg_f{function:02}_d{d:02}.dat"
REFERENCES = {
    "best2009": ("best2009-bbob", DATA, range(1, 25), (2, 5, 10)),
    "best2016": ("best2016-bbob-biobj", DATA, range(1, 56), (5,)),
    "best2016noisy": ("best09-16-bbob-noisy", DATA, range(101, 131), (5,)),
    "best2019large": (
        "best2019-bbob-largescale",
        "bestCustomAlg/bbob-largescale-bestalg_f{function:02}_d{d}.dat",
        range(1, 25),
        (20, 40, 80, 160),
    ),
}


@cache
def steps(reference: str) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """By function and dimension: targets and the evaluations that the best algorithm for each needed."""
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    with RESULTS.joinpath(f"{reference}.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            key = int(row["function"]), int(row["dimension"])
            found.setdefault(key, []).append((float(row["target"]), float(row["evaluations"])))
    return found


def reached(reference: str, function: int, d: int, evaluations: int) -> float:
    """The lowest target that some algorithm reached within so many evaluations; infinite if there is none."""
    known = steps(reference).get((function, d), [])
    return min((target for target, needed in known if needed <= evaluations), default=float("inf"))


def main() -> None:
    with tarfile.open(sys.argv[1]) as package:
        for reference, (name, file_of, functions, dimensions) in REFERENCES.items():
            (member,) = (each for each in package.getnames() if each.endswith(f"refalgs/{name}.tar.gz"))
            file = RESULTS / f"{reference}.csv"
            with tarfile.open(fileobj=package.extractfile(member)) as archive, file.open("w", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow(["function", "dimension", "target", "evaluations"])
                for d in dimensions:
                    for function in functions:
                        data = file_of.format(archive=name, function=function, d=d)
                        for target, evaluations in _steps(archive, data):
                            writer.writerow([function, d, f"{target:.4g}", f"{evaluations:g}"])


def _steps(archive: tarfile.TarFile, data: str) -> Iterator[tuple[float, float]]:
    """Each target with its evaluations; a target that costs no more than the one above it is not in the file."""
    for line in archive.extractfile(data).read().decode().splitlines():
        if not line.startswith("%"):
            evaluations, target, *_ = line.split()
            yield float(target), float(evaluations)


if __name__ == "__main__":
    main()
