"""The time of a suggestion in spaces of seven parameters, beside that in a plain one, in the same run.

    python -m benchmarks.suggest.spaces [--seeds 3] [--before]

Each run has 60 results of its own strategy, and four pending points; then come 20 suggestions, in turn with those of
the other spaces. Processor time. With `--before` neighbors and listed points are compared in full, as before they were
screened (in the conditional space more has changed since); the last column tells whether choices are the same.
"""

from __future__ import annotations

import argparse
import json
from hashlib import sha256
from statistics import mean, median
from time import process_time
from typing import Any

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.search import neighbors

RESULTS, ASKS, PENDING = 60, 20, 4
ABC = Choice(["a", "b", "c"])


def _reals(count: int) -> dict[str, Any]:
    return {f"x{k}": Real(0.0, 1.0) for k in range(count)}


SPACES = {
    "plain": _reals(7),
    "mixed": {**_reals(4), "n": Int(1, 64), "m": Int(1, 8), "c": ABC},
    "conditional": {
        **_reals(2),
        "c": ABC,
        "n": Int(1, 8),
        "p": Real(0.0, 1.0, when={"c": "a"}),
        "q": Real(0.0, 1.0, when={"c": ["a", "b"]}),
        "m": Int(1, 64, when={"c": "c"}),
    },
    "whole numbers": {f"n{k}": Int(1, 32) for k in range(7)},
    "choices of three": {f"c{k}": ABC for k in range(7)},
    "a choice of twenty": {**_reals(5), "n": Int(1, 64), "c": Choice([*map(str, range(20))])},
}


def loss(space: dict[str, Any], point: dict[str, Any]) -> float:
    """A bowl, whose middle is elsewhere along each parameter."""
    total = 0.0
    for k, (name, value) in enumerate(point.items(), start=1):
        parameter = space[name]
        if isinstance(parameter, Choice):
            place = parameter.values.index(value) / len(parameter.values)
        else:
            place = (value - parameter.low) / (parameter.high - parameter.low)
        total += k * (place - 0.13 * k) ** 2
    return total


class Run:
    """An optimizer in a space, and what it has chosen."""

    def __init__(self, name: str, seed: int) -> None:
        self.space = SPACES[name]
        self.optimizer = Optimizer(self.space, seed=seed)
        self.pending: list[Any] = []
        self.chosen = sha256()

    def step(self) -> float:
        """Ask for a point; when so many are pending, tell the value of the first. Returns the seconds of the choice."""
        begin = process_time()
        trial = self.optimizer.ask()
        seconds = process_time() - begin
        self.chosen.update(json.dumps(list(trial.params.values())).encode())
        self.pending.append(trial)
        if len(self.pending) > PENDING:
            first = self.pending.pop(0)
            self.optimizer.tell(first.number, loss(self.space, first.params))
        return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--before", action="store_true")
    given = parser.parse_args()
    if given.before:
        neighbors.FIRST, neighbors._promising = 10**9, lambda objective, points, around: around
    runs = {name: [Run(name, seed) for seed in range(given.seeds)] for name in SPACES}
    seconds: dict[str, list[float]] = {name: [] for name in SPACES}
    for k in range(RESULTS + PENDING + ASKS):
        for name, several in runs.items():
            taken = [run.step() for run in several]
            seconds[name] += taken if k >= RESULTS + PENDING else []
    middle, average = median(seconds["plain"]), mean(seconds["plain"])
    print(f"{'space':<20}{'median ms':>10}{'/ plain':>9}{'mean ms':>9}{'/ plain':>9}  choices")
    for name, times in seconds.items():
        chosen = sha256(b"".join(run.chosen.digest() for run in runs[name])).hexdigest()[:8]
        print(
            f"{name:<20}{1e3 * median(times):>10.0f}{median(times) / middle:>9.2f}"
            f"{1e3 * mean(times):>9.0f}{mean(times) / average:>9.2f}  {chosen}"
        )


if __name__ == "__main__":
    main()
