"""Regret of our strategies and of the peers that are installed: one virtual clock, equal seeds, starts and job times.

    python -m benchmarks.regret -o regret.csv               run what is not in the file yet, on all cores
    python -m benchmarks.regret -o regret.csv --report      print the table and the tests, and draw regret.png

For example: --strategies aegis aegis:epsilon=0.3 --presets paper --peers optuna-gp --problems own Branin --seeds 100

What to run after each change of a model, and the picture of the field (curves over targets) in its report:

    python -m benchmarks.regret --quick --presets modern -o quick.csv --jobs 2

The comparison of the README has starts and job times of its own, and the peers' results are in the repository:

    python -m benchmarks.regret --paired -o mine.csv            our strategies on the fifteen functions, seeds 0 to 4
    python -m benchmarks.regret --paired -o mine.csv --report   beside results/peers.csv and the published medians
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from aegisbo import AegisError
from aegisbo.errors import UnknownName
from aegisbo.strategies.presets import DEFAULT_PRESET, PRESETS
from benchmarks.peers.catalog import PEERS
from benchmarks.problems.named import INSTANCES, QUICK, group_of, groups, problem_named
from benchmarks.regret.curves import draw_curves, print_basins, print_curves
from benchmarks.regret.plot import draw
from benchmarks.regret.progress import print_progress
from benchmarks.regret.report import PUBLISHED, print_report, published_medians, standings
from benchmarks.regret.run import Job, Outcome, our_methods, perform
from benchmarks.rows import fill, missing, read

PEERS_FILE = (
    Path(__file__).parents[1] / "results" / "peers.csv"
)  # what others had found under the conditions of --paired
# What is run unless the options say otherwise: by --paired or not.
DEFAULTS = {
    False: {"peers": list(PEERS), "problems": ["synthetic", "instances", "own"], "seeds": range(100, 103)},
    True: {"peers": [], "problems": ["synthetic"], "seeds": range(5)},
}


def main() -> None:
    options = _options()
    if options.report:
        _report(options)
        return
    jobs = planned(options)
    left = missing(options.output, Outcome, jobs)
    print(f"{len(jobs)} runs, {len(jobs) - len(left)} of them in {options.output} already.", flush=True)
    fill(
        options.output,
        Outcome,
        perform,
        left,
        options.jobs,
        lambda each: f"{each.regret:.3g} in {each.total_seconds:.1f} s",
    )


def planned(options: argparse.Namespace) -> list[Job]:
    """All runs that the options ask for. What cannot be run here is named and left out."""
    methods = our_methods(options.strategies, options.presets)
    for name in options.peers:
        if name not in PEERS:
            raise UnknownName("peer", name, PEERS)
        if missing := PEERS[name].missing:
            print(f"Without {name}: {' and '.join(missing)} not installed.", flush=True)
        else:
            methods.append(name)
    known = groups(options.set, options.instances, options.dimensions)
    names = _runnable(name for entry in options.problems for name in known.get(entry, [entry]))
    names = [name for name in names if _worthwhile(name, options.budget)]
    # Seeds outermost: whenever it is stopped, most methods have met the same ones.
    return [
        Job(method, name, seed, workers_of(method, options), options.budget, options.starts)
        for seed in options.seeds
        for name in names
        for method in methods
        if not (group_of(name) == "tables" and method in PEERS and PEERS[method].real_only)
    ]


def workers_of(method: str, options: argparse.Namespace) -> int:
    return 1 if method in PEERS and PEERS[method].sequential else options.workers


def _report(options: argparse.Namespace) -> None:
    measured = _under(options, read(options.output, Outcome))
    if not measured:
        sys.exit(
            f"{options.output} has no run with {options.workers} workers, a budget of {options.budget} and the starts "
            f"called {options.starts!r}."
        )
    known = _under(options, read(PEERS_FILE, Outcome)) if options.paired else []
    published = published_medians(options.workers) if options.paired and options.budget == 200 else {}
    runs = [*known, *measured]  # a run of one's own replaces one of the file
    methods = sorted({outcome.method for outcome in runs}, key=lambda method: (method in PEERS, method))
    if options.method is not None and options.method not in methods:
        raise UnknownName("method", options.method, methods)
    usual = f"aegis/{DEFAULT_PRESET}"
    method = options.method or (usual if usual in methods else methods[0])
    order = [name for group in groups(options.set, 5, options.dimensions).values() for name in group]
    table = standings(runs, order, published)
    print_report(table, methods, method, measured)
    print_progress(measured, methods, method)
    print_basins(measured, methods)
    print_curves(measured, methods, options.budget)
    draw(table, [*methods, PUBLISHED] if published else methods, method, options.output.with_suffix(".png"))
    draw_curves(measured, methods, options.budget, options.output.with_name(f"{options.output.stem}-curves.png"))


def _under(options: argparse.Namespace, outcomes: list[Outcome]) -> list[Outcome]:
    """Those that were made under the conditions of the options."""
    return [
        each
        for each in outcomes
        if (each.workers, each.budget, each.starts)
        == (workers_of(each.method, options), options.budget, options.starts)
    ]


def _runnable(names: Iterable[str]) -> list[str]:
    found = []
    for name in dict.fromkeys(names):
        try:
            problem_named(name)
        except ImportError as error:  # MissingExtra is one, too
            print(f"Without {name}: {error}", flush=True)
        else:
            found.append(name)
    return found


def _worthwhile(name: str, budget: int) -> bool:
    initial = 2 * problem_named(name).d
    if budget <= initial:
        print(f"Without {name}: its initial design alone takes {initial} evaluations.", flush=True)
    return budget > initial


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategies", nargs="*", default=["aegis"], help="of ours, with parameters if wanted")
    parser.add_argument(
        "--presets", nargs="+", default=list(PRESETS), help="of our strategies (all), or names of VARIANTS"
    )
    starts = parser.add_mutually_exclusive_group()
    starts.add_argument("--paired", action="store_true", help="with the starts and job times of peers.csv")
    starts.add_argument("--own-starts", action="store_true", help="let each method begin as it does by itself")
    parser.add_argument(
        "--quick", action="store_true", help="two instances of everything that has a --set, and no peers: ten minutes"
    )
    parser.add_argument("--peers", nargs="*", help="to run (all that are installed; none with --paired or --quick)")
    parser.add_argument(
        "--problems",
        nargs="+",
        help="names, or synthetic, instances, own (unless told: these; --paired: the first), bbob, mixint, "
        "tables, bowls, funnels, basins",
    )
    parser.add_argument(
        "--set", choices=list(INSTANCES), default="develop", help="of instances and tables: confirm is for the end"
    )
    parser.add_argument("--instances", type=int, help="how many of the set's five (5)")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[5], help="of BBOB (5)")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seeds", type=_seeds, help="the first and the last (100-102; 0-4 with --paired)")
    parser.add_argument("--budget", type=int, default=200, help="evaluations, the initial 2d included (200)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (as many as there are cores)")
    parser.add_argument("-o", "--output", type=Path, default=Path("regret.csv"), help="where the numbers are kept")
    parser.add_argument("--report", action="store_true", help="only evaluate what is there")
    parser.add_argument("--method", help="of the report: the one that is tested against the others")
    options = parser.parse_args()
    options.starts = "peers" if options.paired else "each" if options.own_starts else "own"
    defaults = DEFAULTS[options.paired] | {"instances": 5} | ({**QUICK, "peers": []} if options.quick else {})
    for name, default in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, default)
    return options


if __name__ == "__main__":
    try:
        main()
    except AegisError as error:
        sys.exit(str(error))
