"""Do predictions hold? How many true values lie within the bands, how wide these are, and chances said and observed.

    python -m benchmarks.suggest.bands [--seeds 4] [--alone]

Ten kinds of functions (kinds.py), runs with the default strategy, four evaluations at a time. After 15, 30, 60 and 100
results the model is asked about 200 random points, and about 200 points near the best one. `--alone` asks the likeliest
model alone, which is what chooses points. For each number of results a table has, of both kinds of points, the share of
true values in the bands of 95 and 50 %, and the median width of the wider band in units of the range that holds 95 % of
the values there; then the mean chance said and how often a point was better.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

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


def run(kind: Kind, seed: int, *, alone: bool) -> dict[tuple[int, str], Array]:
    """The columns by number of results and place."""
    found = {}
    for count, model in models(kind, seed):
        best, rng = model.best, np.random.default_rng([2, seed, count])
        assert best is not None
        if alone:
            assert isinstance(model.belief, Belief)
            model = replace(model, belief=model.belief.exploring.alone)
        points = (kind.anywhere(ASKED, rng), kind.near(best.params, ASKED, rng))
        for place, asked in zip(PLACES, points, strict=True):
            found[count, place] = checked(model, kind, asked, kind.function(best.params))
    return found


def told(row: Array) -> str:
    shares = "".join(f"{100 * share:>7.0f}" for share in row[:2])
    return f"{shares}{row[2]:>9.2f}" + "".join(f"{chance:>8.3f}" for chance in row[3:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4, help="runs of each function")
    parser.add_argument("--alone", action="store_true", help="ask the likeliest model alone")
    arguments = parser.parse_args()
    seeds, found = range(arguments.seeds), {}
    for kind in KINDS:
        runs = [run(kind, seed, alone=arguments.alone) for seed in seeds]
        found[kind.name] = {each: np.mean([one[each] for one in runs], axis=0) for each in runs[0]}
    for count in WHEN:
        header = "".join(f"{name:>{width}}" for name, width in zip(COLUMNS, (7, 7, 9, 8, 8), strict=True))
        print(f"\n{count} results".ljust(14) + " |".join(f"{place:^39}" for place in PLACES))
        print(" " * 13 + " |".join([header] * len(PLACES)))
        for name, rows in found.items():
            print(f"{name:<13}" + " |".join(told(rows[count, place]) for place in PLACES))
        columns = [np.array([rows[count, place] for rows in found.values()]) for place in PLACES]
        print(
            f"{'mean':<13}"
            + " |".join(told(np.append(c.mean(0)[:2], [np.median(c[:, 2]), *c.mean(0)[3:]])) for c in columns)
        )


if __name__ == "__main__":
    main()
