"""The time of a suggestion of our presets, beside one of Optuna's GPSampler, on the same data in the same run.

    python -m benchmarks.suggest.presets

Needs Optuna and torch. Processor time, one thread, at (d, n) = (5, 100) and (10, 200): ours with a refit whenever one
is due, as in a run; theirs as `make bench` measures it. Ours must take at most half of theirs.
"""

from __future__ import annotations

import warnings
from statistics import mean, median
from time import process_time

import numpy as np
import torch

from aegisbo import Optimizer
from benchmarks.suggest.data import Data, mid_run
from benchmarks.suggest.optuna import prepared_ask

PRESETS = ("modern", "adaptive")
ASKS = 20  # of ours for each set of data
THEIRS = 5


def our_seconds(data: Data, preset: str) -> list[float]:
    """Of one suggestion after the other; each is told a value worse than most, so that the model stays as it is."""
    optimizer = Optimizer([(0.0, 1.0)] * data.X.shape[1], preset=preset, seed=0, n_initial=0)
    for x, y in zip(data.X, data.y, strict=True):
        optimizer.observe(x, float(y))
    optimizer.tell(optimizer.ask().number, float(data.y.max()))  # the first fit has no warm start
    rng, seconds = np.random.default_rng(0), []
    for _ in range(ASKS):
        begin = process_time()
        trial = optimizer.ask()
        seconds.append(process_time() - begin)
        optimizer.tell(trial.number, float(rng.choice(data.y)) + 1.0)
    return seconds


def their_seconds(data: Data) -> list[float]:
    seconds = []
    for seed in range(THEIRS):
        ask = prepared_ask(data, seed)
        begin = process_time()
        ask()
        seconds.append(process_time() - begin)
    return seconds


def main() -> None:
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    torch.set_num_threads(1)
    print(f"{'d':>3}{'n':>5}  {'preset':<10}{'median ms':>10}{'mean ms':>10}{'GPSampler: median':>20}{'ratio':>8}")
    for d, n in ((5, 100), (10, 200)):
        data = list(mid_run(d, n))
        theirs = median(1e3 * seconds for each in data for seconds in their_seconds(each))
        for preset in PRESETS:
            ours = [1e3 * seconds for each in data for seconds in our_seconds(each, preset)]
            typical = median(ours)
            print(
                f"{d:>3}{n:>5}  {preset:<10}{typical:>10.1f}{mean(ours):>10.1f}{theirs:>20.1f}{typical / theirs:>8.2f}"
            )


if __name__ == "__main__":
    main()
