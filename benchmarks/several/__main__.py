"""Several objectives: how much of the best front a run has found, ours and those of other libraries.

    python -m benchmarks.several -o several.csv                   run what is not in the file yet
    python -m benchmarks.several -o several.csv --report          medians, sign tests, times, beside results/several.csv

Problems: `biobj` (all 55 functions of COCO's bbob-biobj in five dimensions), `closed` (ZDT1 to ZDT3 and DTLZ2, whose
fronts have closed forms), `tables` (real trainings: loss and time, loss and size), or names such as `biobj-f10-i1-d5`
and `table-hpobench-car/time`. Methods are ours (`aegis`, `aegis/modern`, `random`) and those of peers/several.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aegisbo.errors import AegisError
from benchmarks.peers.several import PEERS
from benchmarks.problems import biobj, fronts
from benchmarks.problems.named import INSTANCES
from benchmarks.problems.tables import PREFIX, TABLES
from benchmarks.rows import fill, job_of, read
from benchmarks.several.report import print_report
from benchmarks.several.run import Job, Outcome, perform

PEERS_FILE = Path(__file__).parents[1] / "results" / "several.csv"  # runs on the confirmation set
BUDGETS = {"biobj": 200}  # evaluations; of all others 100
SIZES = ("hpolib-", "nasbench201-")  # tables that also have the size of each model


def main() -> None:
    options = _options()
    if options.report:
        print_report(beside(read(options.output, Outcome), read(PEERS_FILE, Outcome)), options.method)
        return
    fill(options.output, Outcome, perform, planned(options), options.jobs, lambda each: f"gap {each.gap:.4g}")


def beside(mine: list[Outcome], others: list[Outcome]) -> list[Outcome]:
    """One's own runs, and those of others on the same problems; one's own replaces the same run of others."""
    problems = {run.problem for run in mine}
    runs = [*(run for run in others if run.problem in problems), *mine]
    return list({job_of(run, Job): run for run in runs}.values())


def planned(options: argparse.Namespace) -> list[Job]:
    known = groups(INSTANCES[options.set][: options.instances], TABLES[options.set])
    names = [name for entry in options.problems for name in known.get(entry, [entry])]
    return [
        Job(method, name, seed, options.workers, options.budget or BUDGETS.get(name.partition("-")[0], 100))
        for seed in options.seeds
        for name in names
        for method in options.methods
    ]


def groups(instances: range, tables: tuple[str, ...]) -> dict[str, list[str]]:
    return {
        # The instance varies last: whenever a campaign is stopped, most functions have been met equally often.
        "biobj": [f"{biobj.PREFIX}f{function}-i{i}-d5" for i in instances for function in biobj.FUNCTIONS],
        "closed": list(fronts.CLOSED),
        "tables": [f"{PREFIX}{name}/time" for name in tables]
        + [f"{PREFIX}{name}/size" for name in tables if name.startswith(SIZES)],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["aegis", *PEERS])
    parser.add_argument("--problems", nargs="+", default=["biobj", "closed", "tables"])
    parser.add_argument("--set", choices=list(INSTANCES), default="develop", help="of instances and tables")
    parser.add_argument("--instances", type=int, default=5, help="how many of the set's five (5)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--budget", type=int, help="evaluations, the initial 2d included (200; 100 without biobj)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("-o", "--output", type=Path, default=Path("several.csv"))
    parser.add_argument("--report", action="store_true", help="only evaluate what is there")
    parser.add_argument("--method", default="aegis", help="of the report: the one that is tested against the others")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except AegisError as error:
        sys.exit(str(error))
