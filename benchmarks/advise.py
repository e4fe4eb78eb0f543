"""How well `aegisbo advise` foretells how long other teams of workers take.

    python benchmarks/advise.py [--studies 2] [--runs 7] [--jobs 1]

All on the virtual clock, where both job times and functions are known. A study is a run with 4 workers. From it alone
`advise` says how long other teams would take to reach a value that is close to the best of the first study of the
problem. Then such teams are run with the function itself. Studies, forecasts and real runs have seeds of their own.

The last columns say how many times as long as the real median the forecasts were, one number for each study.
"""

from __future__ import annotations

import argparse
import math
import os
from functools import partial
from statistics import median
from typing import NamedTuple

# One thread. The libraries read this when they are loaded, hence before the imports below.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from durations_laws import Timed, timed

from aegisbo import Optimizer
from aegisbo.advice import Advice, advise
from aegisbo.arrays import Array
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import law_from_text
from aegisbo.simulation.many import answers
from aegisbo.simulation.problems import get

BUDGETS = {"Branin/half-normal": 40, "Hartmann6/slope": 60, "Ackley5/pareto": 60}  # evaluations of a study
OWN = 4  # workers of a study
TEAMS = [(size, batches) for size in (4, 2, 16) for batches in (False, True)]
PATIENCE = 3  # times the budget, after which a real run gives up
REAL = 1000  # the first seed of real runs


class Workers(VirtualWorkers):
    """Virtual workers with the job times of a problem, without waiting or in batches."""

    def __init__(self, name: str, workers: int, seed: int, *, batches: bool) -> None:
        function, _, law = name.partition("/")
        self.problem = timed(name) if law == "slope" else get(function)
        super().__init__(self.problem, workers, law_from_text("constant" if law == "slope" else law), seed)
        self._batches = batches
        self._points: dict[int, Array] = {}

    def submit(self, number: int, x: Array) -> int:
        self._points[number] = x
        return super().submit(number, x)

    def seconds(self, number: int) -> float:
        by_point = isinstance(self.problem, Timed)
        return self.problem.seconds(self._points[number]) if by_point else super().seconds(number)

    def collect(self, timeout: float | None = None) -> list[Finished]:
        if not self._batches:
            return super().collect(timeout)
        batch: list[Finished] = []
        while timeout is None and (ended := super().collect()):
            batch += ended
        return batch


class Real(NamedTuple):
    """A run with the function itself."""

    name: str
    workers: int
    batches: bool
    seed: int


def study(name: str, seed: int) -> Optimizer:
    workers = Workers(name, OWN, seed, batches=False)
    optimizer = Optimizer(workers.problem.bounds, seed=seed)
    run(optimizer, workers, BUDGETS[name])
    return optimizer


def seconds_to(target: float, real: Real) -> float:
    workers = Workers(real.name, real.workers, real.seed, batches=real.batches)
    found = [math.inf]

    def watch(job: Finished) -> None:
        if job.outcome.value <= target:
            found[0] = job.finished
            raise StopRun("reached")

    run(Optimizer(workers.problem.bounds, seed=real.seed), workers, PATIENCE * BUDGETS[real.name], watch=watch)
    return found[0]


def report(name: str, studies: int, runs: int, jobs: int) -> None:
    optimizers = [study(name, seed) for seed in range(studies)]
    sizes = sorted({size for size, _ in TEAMS})
    found = [advise(optimizers[0], sizes, runs=runs, jobs=jobs)]
    target = found[0].target
    found += [advise(optimizer, sizes, target=target, runs=runs, jobs=jobs) for optimizer in optimizers[1:]]
    real = [Real(name, *team, REAL + k) for team in TEAMS for k in range(runs)]
    seconds = list(answers(partial(seconds_to, target), real, jobs))
    for k, (size, batches) in enumerate(TEAMS):
        truth = np.quantile(seconds[k * runs : (k + 1) * runs], [0.25, 0.5, 0.75], method="inverted_cdf")
        title = f"{size}{' in batches' if batches else ''}"
        forecasts = [_time(advice, size, batches=batches) for advice in found]
        ratios = ", ".join(f"{each / truth[1]:.2f}" for each in forecasts)
        print(
            f"| {name} | {target:.4g} | {title} | {truth[1]:.1f} ({truth[0]:.1f} to {truth[2]:.1f}) | "
            f"{median(forecasts):.1f} | {ratios} |",
            flush=True,
        )


def _time(advice: Advice, size: int, *, batches: bool) -> float:
    return next(f.time.median for f in advice.forecasts if (f.workers, f.batches) == (size, batches))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--problems", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    given = parser.parse_args()
    print("| problem | target | workers | real time (middle half) | foretold | foretold / real, by study |")
    print("|---|---|---|---|---|---|")
    for name in given.problems:
        report(name, given.studies, given.runs, given.jobs)


if __name__ == "__main__":
    main()
