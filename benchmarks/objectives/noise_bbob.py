"""Noise of three kinds and two strengths: the true value of the point that each library recommends, on bbob-noisy.

    python -m benchmarks.objectives.noise_bbob -o noisy.csv                 run what is not in the file yet
    python -m benchmarks.objectives.noise_bbob -o noisy.csv --report        print the tables

Runs are paired: the initial design, the job times and the noise of the k-th result follow from the problem and the
seed. Recommended are: by us what `minimize(noisy=True)` returns; by Optuna its best trial, the lowest value measured;
by CMA-ES the center of its last distribution. Instances 1 to 5 are for development, 6 to 10 for confirmation.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import astuple, dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from numpy.random import default_rng

from aegisbo import Optimizer
from aegisbo.runners.loop import run
from aegisbo.strategies.presets import DEFAULT_PRESET
from benchmarks.peers.catalog import PEERS
from benchmarks.peers.driven import Driven
from benchmarks.peers.evolution import Evolution
from benchmarks.problems.best import reached
from benchmarks.problems.noisy import FUNCTIONS, name_of, noisy
from benchmarks.regret.starts import own
from benchmarks.rows import fill, read
from benchmarks.sign_test import sign_test

OTHERS = ("optuna-tpe", "optuna-gp", "cmaes")
BEST = "best 2009-16"
NOISE_DRAWS = 7_304  # the role of these draws in a generator's address
TIED = 1.1  # regrets that differ by less than this factor are equal


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    method: str
    function: int
    instance: int
    d: int
    seed: int
    workers: int
    budget: int


@dataclass(frozen=True)
class Outcome(Job):
    """True regrets: of the point recommended, and the lowest of all points evaluated, which nobody knows."""

    recommended: float
    lowest: float


def main() -> None:
    options = _options()
    if options.report:
        _report([each for each in read(options.output, Outcome) if each.instance in options.instances])
        return
    jobs = [
        Job(method, function, instance, 5, seed, options.workers, options.budget)
        for seed in options.seeds
        for instance in options.instances
        for function in options.functions
        for method in options.methods
    ]
    fill(options.output, Outcome, perform, jobs, options.jobs, lambda each: f"{each.recommended:.3g}")


def perform(job: Job) -> Outcome:
    """One run on the virtual clock."""
    warnings.simplefilter("ignore")
    problem = noisy(name_of(job.function, job.instance, job.d))
    start = own(problem, job.seed, job.budget)
    rng = default_rng([start.seed, NOISE_DRAWS])
    driven = Driven(_method(job.method, problem.bounds, start.seed))
    run(driven, start.workers(lambda x: problem.measured(x, rng), job.workers), job.budget)
    lowest = min(problem(trial.x) for trial in driven.trials.values())
    return Outcome(*astuple(job), *(value - problem.minimum for value in (problem(recommended(driven)), lowest)))


def _method(name: str, bounds: Any, seed: int) -> Any:
    if name in PEERS:
        return PEERS[name].start(bounds, seed, 2 * len(bounds), True)
    return Optimizer(bounds, preset=name, seed=seed, noisy=True)


def recommended(driven: Driven) -> Any:
    """The point that a library would tell its user to take."""
    if isinstance(driven.method, Optimizer):
        return driven.method.result().x
    if isinstance(driven.method, Evolution):
        return driven.method.space.from_unit(driven.method.mean)
    return min(driven.trials.values(), key=lambda trial: trial.value).x


def _report(outcomes: list[Outcome]) -> None:
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    ours, others = methods[0], methods[1:]
    medians: dict[tuple[str, int], float] = {}
    print("True regret: median of the point recommended (in brackets: of the best point evaluated)\n")
    print(f"{'':6}" + "".join(f"{method:>22}" for method in methods) + f"{BEST:>14}")
    for function in sorted({outcome.function for outcome in outcomes}):
        cells = [[each for each in outcomes if (each.function, each.method) == (function, m)] for m in methods]
        medians |= {(m, function): median(e.recommended for e in c) for m, c in zip(methods, cells, strict=True) if c}
        texts = [
            f"{median(e.recommended for e in c):.3g} ({median(e.lowest for e in c):.3g})" if c else "" for c in cells
        ]
        best = reached("best2016noisy", function, outcomes[0].d, outcomes[0].budget)
        print(f"f{function:<5}" + "".join(f"{text:>22}" for text in texts) + f"{best:14.3g}")
    print()
    for other in others:
        pairs = [(medians[ours, f], medians[other, f]) for f in FUNCTIONS if {(ours, f), (other, f)} <= medians.keys()]
        print(f"{ours} has the lower median than {other} on {sum(a < b for a, b in pairs)} of {len(pairs)} functions")
    regrets = {(each.method, each.function, each.instance, each.seed): each.recommended for each in outcomes}
    print(f"\nPaired runs of {ours}, regret lower : higher by more than a tenth")
    for strength, functions in (("weak", FUNCTIONS[:6]), ("strong", FUNCTIONS[6:]), ("all", FUNCTIONS)):
        for other in others:
            pairs = [
                (regret, regrets.get((other, *rest), inf))
                for (method, *rest), regret in regrets.items()
                if method == ours and rest[0] in functions and (other, *rest) in regrets
            ]
            lower, higher = (sum(TIED * a < b for a, b in each) for each in (pairs, [(b, a) for a, b in pairs]))
            if lower + higher:
                p = sign_test(lower, higher)
                print(f"{strength:8}against {other:12} {lower:4} : {higher:<4} p = {p:.2g}")


def _numbers(text: str) -> list[int]:
    """`3`, or `1-5`."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("noisy.csv"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--methods", nargs="+", default=[DEFAULT_PRESET, *OTHERS])
    parser.add_argument("--functions", nargs="+", type=int, choices=FUNCTIONS, default=FUNCTIONS)
    parser.add_argument("--instances", type=_numbers, default=range(1, 6), help="the first and the last (1-5)")
    parser.add_argument("--seeds", type=_numbers, default=[0], help="the first and the last (0)")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


if __name__ == "__main__":
    main()
