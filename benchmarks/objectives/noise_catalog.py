"""Noisy values in a small catalog: the true value of the entry that is returned, with and without repetitions.

    python -m benchmarks.objectives.noise_catalog            prints a table: 20 catalogs, some minutes

A catalog has 4 x 3 x 2 = 24 entries: the sum of an effect of each choice, and half as much that belongs to the entry
alone. The standard deviation of the noise is a share of the range. Four evaluations run at a time and end in the order
in which they began. "once" is `noisy=True` without the move `repeat`: it ends after 24 evaluations. Optuna's TPE
returns its best trial, the lowest value measured.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable

import numpy as np
import optuna
from numpy.random import default_rng

from aegisbo import Choice, Optimizer, SpaceExhausted
from aegisbo.arrays import Array
from aegisbo.strategies import Aegis

SHAPE = (4, 3, 2)
SPACE = {f"choice{axis}": Choice(list(range(size))) for axis, size in enumerate(SHAPE)}
SHARES = (0.05, 0.1, 0.2)
WORKERS = 4

Measure = Callable[[dict[str, int]], float]


def catalog(seed: int) -> Array:
    """The true values, from 0 to 1."""
    rng = default_rng([seed, 24])
    values = 0.5 * rng.normal(size=SHAPE)
    for axis, size in enumerate(SHAPE):
        values += rng.normal(size=size).reshape([-1 if other == axis else 1 for other in range(len(SHAPE))])
    return (values - values.min()) / np.ptp(values)


class Once(Aegis):
    """Measures no point again."""

    repeats = False


def ours(measure: Measure, seed: int, budget: int, *, repeats: bool) -> dict[str, int]:
    optimizer = Optimizer(SPACE, strategy=Aegis() if repeats else Once(), seed=seed, noisy=True)
    running = deque(optimizer.ask() for _ in range(WORKERS))
    for count in range(budget):
        trial = running.popleft()
        optimizer.tell(trial, measure(trial.params))
        if count + WORKERS < budget:
            try:
                running.append(optimizer.ask())
            except SpaceExhausted:
                budget = 0  # no more asks
        if not running:
            break
    best = optimizer.best
    assert best is not None
    return best.params


def tpe(measure: Measure, seed: int, budget: int) -> dict[str, int]:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    wanted = {name: optuna.distributions.CategoricalDistribution(parameter.values) for name, parameter in SPACE.items()}
    running = deque(study.ask(wanted) for _ in range(WORKERS))
    for count in range(budget):
        trial = running.popleft()
        study.tell(trial, measure(trial.params))
        if count + WORKERS < budget:
            running.append(study.ask(wanted))
    return study.best_params


METHODS: dict[str, Callable[[Measure, int, int], dict[str, int]]] = {
    "repeat": lambda *given: ours(*given, repeats=True),
    "once": lambda *given: ours(*given, repeats=False),
    "optuna-tpe": tpe,
}


def regret(method: str, share: float, seed: int, budget: int) -> float:
    values, rng = catalog(seed), default_rng([seed, 7])

    def measure(params: dict[str, int]) -> float:
        return float(values[tuple(params.values())] + share * rng.normal())

    return float(values[tuple(METHODS[method](measure, seed, budget).values())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=50)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print("noise   " + "".join(f"{method:>28}" for method in METHODS))
    for share in SHARES:
        cells = []
        for method in METHODS:
            regrets = [regret(method, share, seed, options.budget) for seed in range(options.seeds)]
            right = sum(value == 0.0 for value in regrets)
            cells.append(f"{100 * np.mean(regrets):.2f} %, {right} of {len(regrets)} right")
        print(f"{share:5.0%}   " + "".join(f"{cell:>28}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
