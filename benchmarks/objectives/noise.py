"""Noisy values: the true value of the point that each library returns, beside Optuna's and BoTorch's.

    python -m benchmarks.objectives.noise -o noise.csv                 run what is not in the file yet, on all cores
    python -m benchmarks.objectives.noise -o noise.csv --report        print the tables

The standard deviation of the noise is 1, 5 or 10 % of the range, from the minimum to the highest of 4,096 values spread
over the box. With `--kind outliers` one value in five is off by a Cauchy number of this size, and the others are exact.
Runs are paired: the initial design, the job times and the noise of the k-th result follow from the seed. Returned are:
by us what `minimize(noisy=True)` returns; by Optuna its best trial, the lowest value measured; by BoTorch the evaluated
point with the lowest posterior mean (its qLogNEI chose the points).
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import qmc

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.runners.loop import run
from aegisbo.simulation import problems
from aegisbo.simulation.problems import Problem
from aegisbo.strategies.presets import DEFAULT_PRESET, PRESETS
from benchmarks.peers.botorch import NoisyImprovement, model_of
from benchmarks.peers.catalog import PEERS
from benchmarks.peers.driven import Driven
from benchmarks.regret.starts import own
from benchmarks.rows import fill, read

FUNCTIONS = ("Branin", "Hartmann3", "Ackley5", "Hartmann6")
SHARES = (0.01, 0.05, 0.1)  # of the range
OTHERS = ("optuna-gp", "optuna-tpe", "botorch")
NOISE_DRAWS = 7_303  # the role of these draws in a generator's address
KINDS: dict[str, Callable[[Generator], float]] = {
    "normal": Generator.normal,
    "outliers": lambda rng: float(rng.random() < 0.2 and rng.standard_cauchy()),
}


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    method: str
    kind: str  # of noise
    function: str
    share: float
    seed: int
    workers: int
    budget: int


@dataclass(frozen=True)
class Outcome(Job):
    """Regret of the point returned and of the best point evaluated, without noise, in shares of the range."""

    returned: float
    best: float


def main() -> None:
    options = _options()
    if options.report:
        _report([each for each in read(options.output, Outcome) if each.kind == options.kind])
        return
    jobs = [
        Job(method, options.kind, function, share, seed, options.workers, options.budget)
        for seed in range(options.seeds)
        for share in SHARES
        for function in FUNCTIONS
        for method in options.methods
    ]
    fill(options.output, Outcome, perform, jobs, options.jobs, lambda each: f"{each.returned:.3g}")


def perform(job: Job) -> Outcome:
    """One run on the virtual clock."""
    warnings.simplefilter("ignore")
    problem = problems.get(job.function)
    start = own(problem, job.seed, job.budget)
    span = _range(problem)
    rng = default_rng([start.seed, NOISE_DRAWS])
    driven = Driven(_method(job.method, problem, start.seed))
    workers = start.workers(lambda x: float(problem(x)) + job.share * span * KINDS[job.kind](rng), job.workers)
    run(driven, workers, job.budget)
    true = [float(problem(trial.x)) for trial in driven.trials.values()]
    found = RETURNED.get(job.method, _smoothed)(driven)
    return Outcome(*astuple(job), *((value - problem.minimum) / span for value in (float(problem(found)), min(true))))


def _range(problem: Problem) -> float:
    low, high = np.array(problem.bounds).T
    spread: Array = low + qmc.Sobol(problem.d, seed=0).random(4096) * (high - low)
    return max(float(problem(x)) for x in spread) - problem.minimum


def _method(name: str, problem: Problem, seed: int) -> Any:
    if name == "botorch":
        return Optimizer(problem.bounds, strategy=NoisyImprovement(), seed=seed)
    if name in PEERS:
        return PEERS[name].start(problem.bounds, seed, 2 * problem.d, True)
    return Optimizer(problem.bounds, preset=name, seed=seed, noisy=True)


def _smoothed(driven: Driven) -> Any:
    return driven.method.result().x


def _lowest(driven: Driven) -> Any:
    return min(driven.trials.values(), key=lambda trial: trial.value).x


def _lowest_mean(driven: Driven) -> Any:
    import torch

    evidence = driven.method.evidence()
    model = model_of(evidence)
    with torch.no_grad():
        means = model.posterior(torch.from_numpy(evidence.X)).mean[:, 0]
    return driven.method.trials[int(means.argmax())].x  # no trial failed: rows are trials


RETURNED: dict[str, Callable[[Driven], Any]] = {
    "botorch": _lowest_mean,
    "optuna-gp": _lowest,
    "optuna-tpe": _lowest,
}


def _report(outcomes: list[Outcome]) -> None:
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    print("Regret of the point returned, in % of the range: median over runs")
    for share in SHARES:
        print(f"\nnoise {share:.0%}  " + "".join(f"{method:>14}" for method in methods))
        for function in FUNCTIONS:
            cells = [
                [o.returned for o in outcomes if (o.method, o.function, o.share) == (method, function, share)]
                for method in methods
            ]
            print(f"{function:16}" + "".join(f"{100 * median(cell):14.3f}" if cell else f"{'':14}" for cell in cells))
    print("\nPaired by seed, better / worse than:")
    by_job = {(o.method, o.function, o.share, o.seed): o.returned for o in outcomes}
    for one in methods:
        if one not in PRESETS:
            continue
        for other in methods:
            pairs = [
                (value, by_job[other, *rest])
                for (name, *rest), value in by_job.items()
                if name == one and (other, *rest) in by_job
            ]
            if other != one:
                better, worse = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
                print(f"{one:10} against {other:12} {better:4} / {worse}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("noise.csv"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--methods", nargs="+", default=[DEFAULT_PRESET, *OTHERS])
    parser.add_argument("--kind", choices=list(KINDS), default="normal")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--budget", type=int, default=80)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


if __name__ == "__main__":
    main()
