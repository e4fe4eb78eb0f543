"""The time of a suggestion with two and three objectives, beside one of Optuna's GPSampler, on the same data.

    python -m benchmarks.suggest.several [--presets adaptive modern]

Needs Optuna and torch. Processor time, one thread, at (d, n) = (5, 100) and (10, 200) on DTLZ2; half of the points are
ever closer to the best front, as in the middle of a run. Ours must take at most a third of theirs.
"""

from __future__ import annotations

import argparse
import warnings
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import torch

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.strategies.presets import DEFAULT_PRESET
from benchmarks.problems.fronts import closed

ASKS = 12  # of each
WORSE = 2.0  # times the values of the data: a result that changes no front


def mid_run(d: int, n: int, m: int) -> tuple[Array, Array]:  # (n, d) in the unit cube, (n, m)
    rng = np.random.default_rng([d, n, m])
    X = rng.random((n, d))
    late = n // 2
    X[late:, m - 1 :] = 0.5 + np.geomspace(0.3, 0.02, n - late)[:, None] * rng.standard_normal((n - late, d - m + 1))
    X = X.clip(0.0, 1.0)
    return X, np.array([closed(f"DTLZ2-m{m}").function(x) for x in X])


def our_seconds(X: Array, F: Array, preset: str) -> list[float]:
    names = [f"f{k}" for k in range(F.shape[1])]
    optimizer = Optimizer(
        [(0.0, 1.0)] * X.shape[1], objectives=dict.fromkeys(names, "min"), preset=preset, seed=0, n_initial=0
    )

    def named(values: Array) -> dict[str, float]:
        return dict(zip(names, values.tolist(), strict=True))

    for x, values in zip(X, F, strict=True):
        optimizer.observe(x, named(values))
    optimizer.tell(optimizer.ask().number, named(WORSE * F[0]))  # the first fit has no warm start
    seconds = []
    for k in range(ASKS):
        begin = process_time()
        trial = optimizer.ask()
        seconds.append(process_time() - begin)
        optimizer.tell(trial.number, named(WORSE * F[k]))
    return seconds


def their_seconds(X: Array, F: Array) -> list[float]:
    """The sampler has fitted its models once, before the first suggestion that counts."""
    import optuna
    from optuna.distributions import FloatDistribution

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space: dict[str, Any] = {f"x{k}": FloatDistribution(0.0, 1.0) for k in range(X.shape[1])}
    sampler = optuna.samplers.GPSampler(seed=0, deterministic_objective=True)
    study = optuna.create_study(sampler=sampler, directions=["minimize"] * F.shape[1])
    study.add_trials(
        optuna.create_trial(params=dict(zip(space, x, strict=True)), distributions=space, values=values)
        for x, values in zip(X.tolist(), F.tolist(), strict=True)
    )
    study.tell(study.ask(space), (WORSE * F[0]).tolist())
    seconds = []
    for k in range(ASKS):
        begin = process_time()
        trial = study.ask(space)
        seconds.append(process_time() - begin)
        study.tell(trial, (WORSE * F[k]).tolist())
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=[DEFAULT_PRESET])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    torch.set_num_threads(1)
    print(f"{'d':>3}{'n':>5}{'objectives':>12}  {'preset':<10}{'median ms':>10}{'GPSampler: median':>20}{'ratio':>8}")
    for d, n in ((5, 100), (10, 200)):
        for m in (2, 3):
            data = mid_run(d, n, m)
            theirs = 1e3 * median(their_seconds(*data))
            for preset in options.presets:
                ours = 1e3 * median(our_seconds(*data, preset))
                print(f"{d:>3}{n:>5}{m:>12}  {preset:<10}{ours:>10.1f}{theirs:>20.1f}{ours / theirs:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
