"""How far predictions can be trusted: how many values lie within the 95 % that were predicted for them.

    python -m benchmarks.suggest.predictions [--seeds 2]

Runs of 100 evaluations on the paper's fifteen functions, four at a time. Three kinds of points:
those that the run chose, by their prediction at the time; its results, each predicted from all others; and 500 random
points of the box, predicted by the last model. Lines are functions, and the last one has the medians.
"""

from __future__ import annotations

import argparse
from collections import deque
from statistics import fmean, median

import numpy as np

from aegisbo import Optimizer
from aegisbo.review.landscape import needed_landscape
from aegisbo.review.reasons import calibration, predictions
from aegisbo.review.record import Record
from aegisbo.simulation.problem import Problem
from aegisbo.simulation.synthetic import SYNTHETIC

EVALUATIONS, WORKERS, ELSEWHERE = 100, 4, 500
COLUMNS = ("chosen", "left out", "random", "error")


def shares(problem: Problem, seed: int) -> tuple[float, float, float, float]:
    """The shares of values within the 95 % predicted, by kind of point, and the error at random points.

    The error is a share of that of guessing the median of the run's values.
    """
    optimizer = Optimizer(list(problem.bounds), seed=seed)
    running = deque(optimizer.ask() for _ in range(WORKERS))
    for _ in range(EVALUATIONS):
        trial = running.popleft()
        optimizer.tell(trial, problem(trial.x))
        running.append(optimizer.ask())
    chosen = calibration(predictions(Record.of_optimizer(optimizer)))
    left_out = calibration(needed_landscape(optimizer).left_out)
    assert chosen is not None
    assert left_out is not None
    low, high = np.array(problem.bounds).T
    points = np.random.default_rng(seed).uniform(low, high, (ELSEWHERE, len(low)))
    found, values = optimizer.predict(list(points)), np.array([problem(x) for x in points])
    guess = float(np.median([trial.value for trial in optimizer.trials if trial.value is not None]))
    within = float(np.mean((found.low <= values) & (values <= found.high)))
    error = float(np.median(np.abs(found.mean - values)) / np.median(np.abs(guess - values)))
    return chosen.within, left_out.within, within, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="runs of each function")
    seeds = range(parser.parse_args().seeds)
    print(f"{'function':<18}" + "".join(f"{kind:>10}" for kind in COLUMNS))
    rows = []
    for problem in SYNTHETIC:
        rows.append([fmean(column) for column in zip(*(shares(problem, seed) for seed in seeds), strict=True)])
        print(f"{problem.name:<18}" + "".join(f"{share:>10.0%}" for share in rows[-1]), flush=True)
    print(f"{'median':<18}" + "".join(f"{median(column):>10.0%}" for column in zip(*rows, strict=True)))


if __name__ == "__main__":
    main()
