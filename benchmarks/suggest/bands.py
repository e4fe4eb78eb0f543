"""Do predictions hold? How many true values lie within the bands, how wide these are, and chances said and observed.

    python -m benchmarks.suggest.bands [--seeds 2]

Ten kinds of functions (kinds.py), runs with the default strategy, four evaluations at a time. After 15, 30, 60 and 100
results the model is asked about 200 random points, and about 200 points near the best one: the likeliest model alone,
which explores, and all models that the results leave open, which is what a user is told. For each number of results a
table has, of both kinds of points, the share of true values in the bands of 95 and 50 %, and the median width of the
wider band in units of the range that holds 95 % of the values there; then the mean chance said, and how often a point
was better.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.optimizer.model import Model
from aegisbo.space import Params
from aegisbo.strategies.belief import Belief
from benchmarks.suggest.kinds import KINDS, Kind

WHEN = (15, 30, 60, 100)  # results
WORKERS, ASKED = 4, 200
PLACES = ("anywhere", "near")
COLUMNS = ("95 %", "50 %", "width", "said", "true")


def models(kind: Kind, seed: int) -> Iterator[tuple[int, Model]]:
    """The model of one run whenever it has so many results."""
    rng = np.random.default_rng([1, seed])
    optimizer = Optimizer(kind.parameters, seed=seed, noisy=kind.noise > 0.0)
    running = deque(optimizer.ask() for _ in range(WORKERS))
    for count in range(1, WHEN[-1] + 1):
        trial = running.popleft()
        optimizer.tell(trial, kind.function(trial.params) + kind.noise * rng.standard_normal())
        running.append(optimizer.ask())
        if count in WHEN:
            yield count, optimizer.model()


def checked(model: Model, kind: Kind, points: list[Params], best: float) -> Array:
    """One number for each column."""
    told, values = model.predict(points), np.array([kind.function(point) for point in points])
    slack = 1e-9 * (1.0 + np.abs(values))
    within = np.mean((told.low - slack <= values) & (values <= told.high + slack))
    half = np.mean((told.lower - slack <= values) & (values <= told.upper + slack))
    spread = float(np.subtract(*np.quantile(values, [0.975, 0.025]))) or 1.0
    width = np.median(told.high - told.low) / spread
    return np.array([within, half, width, told.chance.mean(), np.mean(values < best)])


def run(kind: Kind, seed: int) -> dict[tuple[str, int, str], Array]:
    """The columns by who is asked, number of results and place."""
    found = {}
    for count, model in models(kind, seed):
        best, rng = model.best, np.random.default_rng([2, seed, count])
        assert best is not None
        assert isinstance(model.belief, Belief)
        asked = {"one model": replace(model, belief=model.belief.exploring.alone), "all models": model}
        points = (kind.anywhere(ASKED, rng), kind.near(best.params, ASKED, rng))
        for (who, each), (place, some) in product(asked.items(), zip(PLACES, points, strict=True)):
            found[who, count, place] = checked(each, kind, some, kind.function(best.params))
    return found


def told(row: Array) -> str:
    shares = "".join(f"{100 * share:>7.0f}" for share in row[:2])
    return f"{shares}{row[2]:>9.2f}" + "".join(f"{chance:>8.3f}" for chance in row[3:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="runs of each function")
    seeds, found = range(parser.parse_args().seeds), {}
    for kind in KINDS:
        runs = [run(kind, seed) for seed in seeds]
        found[kind.name] = {each: np.mean([one[each] for one in runs], axis=0) for each in runs[0]}
    for who, count in product(("one model", "all models"), WHEN):
        header = "".join(f"{name:>{width}}" for name, width in zip(COLUMNS, (7, 7, 9, 8, 8), strict=True))
        print(f"\n{who}, {count} results\n{'':<13}" + " |".join(f"{place:^39}" for place in PLACES))
        print(" " * 13 + " |".join([header] * len(PLACES)))
        for name, rows in found.items():
            print(f"{name:<13}" + " |".join(told(rows[who, count, place]) for place in PLACES))
        each = [np.array([rows[who, count, place] for rows in found.values()]) for place in PLACES]
        for average in (np.mean, np.median):
            print(f"{average.__name__:<13}" + " |".join(told(average(rows, axis=0)) for rows in each))


if __name__ == "__main__":
    main()
