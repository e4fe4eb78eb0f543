"""Whether failing regions are avoided, and what lies at their edge is still found.

    python benchmarks/failures.py [--seeds 100 101 102] [--budget 110] [--scenarios edge] [--methods aegis/modern]

Functions that fail in a third of their box, eight workers on the virtual clock. For each scenario and method: the share
of failed evaluations in the first and in the last third of a run (`random` shows how much of the box fails), the regret
against the lowest value that does not fail, as medians over the seeds, and what chose the points that failed later.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median

# One thread. The libraries read this when they are loaded, hence before the imports below.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from aegisbo import Optimizer, Trial
from aegisbo.arrays import Array
from aegisbo.outcome import FAILURES
from aegisbo.runners.loop import run
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import HalfNormal

WORKERS = 8
METHODS = ("aegis/modern", "aegis/paper", "random")


class OutOfReachError(Exception):
    """The simulator diverged."""


@dataclass(frozen=True)
class Scenario:
    """A problem that fails in part of its box, and the lowest value elsewhere."""

    problem: problems.Problem
    fails: Callable[[Array], bool]
    minimum: float

    def __call__(self, x: Array) -> float:
        if self.fails(x):
            raise OutOfReachError(x)
        return self.problem(x)


TANG, HARTMANN = problems.get("StyblinskiTang5"), problems.get("Hartmann6")
TANG_VALLEY = TANG.minimum / TANG.d  # the deepest point of one coordinate, at -2.9035; the function is a sum of such
TANG_OTHER_VALLEY = -25.0294  # of one coordinate, at 2.7468
TANG_AT_MINUS_2 = -29.0  # of one coordinate, on the slope towards -2.9035
OBLIQUE = np.array([0.5, 0.2, -1.0, -1.0, -1.0, 0.4])  # beyond this plane through its minimum lies 0.3 of the box

SCENARIOS = {
    # The deepest valley fails, and the next best one is far away.
    "hidden": Scenario(TANG, lambda x: bool(x[0] < -1.5), TANG.minimum - TANG_VALLEY + TANG_OTHER_VALLEY),
    # It fails where it would be lowest, and the lowest point that does not is where it begins to.
    "slope": Scenario(TANG, lambda x: bool(x[0] < -2.0), TANG.minimum - TANG_VALLEY + TANG_AT_MINUS_2),
    # The lowest point of all has a neighborhood half of which fails.
    "edge": Scenario(HARTMANN, lambda x: bool(OBLIQUE @ (x - HARTMANN.minimizers[0]) > 0.0), HARTMANN.minimum),
}


@dataclass(frozen=True)
class Outcome:
    """One run: what it found, and how often it failed."""

    regret: float
    failed_first: float  # share of the first third
    failed_last: float
    failed_moves: Counter[str]  # what chose the points of the last two thirds that failed


def perform(scenario: Scenario, method: str, seed: int, budget: int) -> Outcome:
    strategy, _, preset = method.partition("/")
    optimizer = Optimizer(scenario.problem.bounds, strategy=strategy, preset=preset or None, seed=seed)
    run(optimizer, VirtualWorkers(scenario, WORKERS, HalfNormal(), seed, free=2 * scenario.problem.d), budget)
    third = budget // 3
    return Outcome(
        regret=optimizer.result().fun - scenario.minimum,
        failed_first=failed_share(optimizer.trials[:third]),
        failed_last=failed_share(optimizer.trials[-third:]),
        failed_moves=Counter(trial.note["move"] for trial in optimizer.trials[third:] if trial.state in FAILURES),
    )


def failed_share(trials: Sequence[Trial]) -> float:
    return mean(trial.state in FAILURES for trial in trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--budget", type=int, default=110)
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    print("scenario  method          failed: first third  last third    regret: median    worst    failed later by")
    for name in options.scenarios:
        for method in options.methods:
            outcomes = [perform(SCENARIOS[name], method, seed, options.budget) for seed in options.seeds]
            moves = sum((outcome.failed_moves for outcome in outcomes), Counter())
            print(
                f"{name:10}{method:16}{median(outcome.failed_first for outcome in outcomes):19.0%}"
                f"{median(outcome.failed_last for outcome in outcomes):12.0%}"
                f"{median(outcome.regret for outcome in outcomes):18.3g}"
                f"{max(outcome.regret for outcome in outcomes):9.3g}    "
                + ", ".join(f"{count} {move}" for move, count in moves.most_common()),
                flush=True,
            )


if __name__ == "__main__":
    main()
