"""Stopping early on trainings that report: ours beside random search with successive halving and Optuna's pruners.

    python -m benchmarks.curves -o curves.csv                   run what is not in the file yet
    python -m benchmarks.curves -o curves.csv --report          what was reached when, and sign tests

Problems: `lcbench` (data sets 0 to 11 of LCBench to develop, 12 to 23 to confirm), `lcdb` (a choice among 20
learners on six data sets each), `crossing` (curves of our own, whose best start lowest), or names such as
`lcbench-3945`, `lcdb-6` and `crossing-0`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aegisbo.errors import AegisError
from benchmarks.curves.report import print_report
from benchmarks.curves.run import METHODS, Job, Outcome, perform
from benchmarks.problems.lcdb import DATA_SETS
from benchmarks.problems.trainings import tasks
from benchmarks.rows import fill, read

SETS = {"develop": slice(0, 12), "confirm": slice(12, 24)}  # of the data sets of LCBench
SIXES = {"develop": slice(0, 6), "confirm": slice(6, 12)}  # of the others


def main() -> None:
    options = _options()
    if options.report:
        print_report(read(options.output, Outcome), options.method)
        return
    fill(
        options.output,
        Outcome,
        perform,
        planned(options),
        options.jobs,
        lambda each: f"{each.after_5:.5g} {each.after_20:.5g}",
    )


def planned(options: argparse.Namespace) -> list[Job]:
    names = [name for entry in options.problems for name in _names(entry, options.set)]
    return [
        Job(method, name, seed, options.workers)
        for seed in options.seeds
        for name in names
        for method in options.methods
    ]


def _names(entry: str, chosen: str) -> list[str]:
    if entry == "lcbench":
        return tasks(SETS[chosen])
    numbers = {"lcdb": DATA_SETS, "crossing": tuple(map(str, range(12)))}.get(entry)
    return [entry] if numbers is None else [f"{entry}-{number}" for number in numbers[SIXES[chosen]]]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--problems", nargs="+", default=["lcbench"])
    parser.add_argument("--set", choices=list(SETS), default="develop")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("-o", "--output", type=Path, default=Path("curves.csv"))
    parser.add_argument("--report", action="store_true", help="only evaluate what is there")
    parser.add_argument(
        "--method", default="aegis-gain", help="of the report: the one that is tested against the others"
    )
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except AegisError as error:
        sys.exit(str(error))
