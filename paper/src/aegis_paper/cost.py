"""What runs cost in seconds of one core, and what the whole paper would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from aegis_paper.plans import load_plan
from aegis_paper.records import Records
from aegisbo.errors import InvalidInput
from aegisbo.simulation.problems import dimension

THE_PAPER = ("synthetic", "sequential", "ablation", "epsilon", "gamma", "profet", "push")  # plans

BUDGET = 200  # evaluations in each of its runs
UNKNOWN = "an unknown processor"

Kind = tuple[str, int]  # strategy and number of coordinates


@dataclass(frozen=True)
class Measured:
    """Mean costs, as if all runs had been made with one processor."""

    seconds: pd.Series  # of one core, by strategy and number of coordinates d
    processor: str  # the one that made most of the runs
    slower: Mapping[str, float]  # by each other processor: how many times as long a run takes there


@dataclass(frozen=True)
class Projection:
    """The cost of many runs, told from that of a few."""

    runs: int
    seconds: float  # of one core
    measured: int  # of the runs, those whose strategy and number of coordinates were measured


def measure(records: Records, preset: str) -> Measured:
    """What the runs on record cost that are as long as the paper's.

    Raises:
        InvalidInput: there is none whose cost is known.
    """
    runs = records.headers()
    runs = runs[(runs["preset"] == preset) & (runs["budget"] == BUDGET)].dropna(subset="core_seconds")
    if runs.empty:
        raise InvalidInput(f"No run of {BUDGET} evaluations has been measured: do some with `aegis-paper run`.")
    kinds = [runs["strategy"], runs["problem"].map(dimension).rename("d")]
    processors = runs["build"].map(lambda build: build.get("cpu", UNKNOWN)).rename("processor")
    usual = processors.value_counts().idxmax()
    means = runs["core_seconds"].groupby([*kinds, processors]).mean().unstack("processor")
    # A median: the few tenths of a second of `random` say little. One that shares no kind of run is left as it is.
    slower = means.div(means[usual], axis=0).median().fillna(1.0)
    seconds = (runs["core_seconds"] / processors.map(slower)).groupby(kinds).mean()
    return Measured(seconds, usual, slower.drop(usual).to_dict())


def runs_of_the_paper() -> Counter[Kind]:
    """How many runs of each kind the paper's tables and figures are made of.

    The paper repeated some runs under another name, which our plans do not: the schedules of ε on problems of up to
    four coordinates, where they are one, and the shares 0 and 1 of Thompson sampling, which the ablation has.
    """
    runs: Counter[Kind] = Counter()
    cells = {cell: count for name in THE_PAPER for cell, count in load_plan(name).cells().items()}
    for cell, count in cells.items():
        runs[cell.strategy, dimension(cell.problem)] += count
    for cell, count in load_plan("epsilon").cells().items():
        if dimension(cell.problem) <= 4:
            runs[cell.strategy, dimension(cell.problem)] += 2 * count
    for cell, count in load_plan("gamma").cells().items():
        if cell.strategy in ("aegis-no-ts", "aegis-no-pf"):
            runs[cell.strategy, dimension(cell.problem)] += count
    return runs


def projected(runs: Mapping[Kind, int], measured: pd.Series) -> Projection:
    """The cost of these runs, linear in the number of coordinates between those that were measured.

    A strategy that was not measured costs what it does without its parameters, or else the average of all strategies.
    """
    lines = {strategy: _by_dimension(strategy, measured) for strategy, _ in runs}
    seconds = sum(
        count * float(np.interp(d, lines[strategy].index, lines[strategy])) for (strategy, d), count in runs.items()
    )
    known = sum(count for kind, count in runs.items() if kind in measured.index)
    return Projection(sum(runs.values()), seconds, known)


def _by_dimension(strategy: str, measured: pd.Series) -> pd.Series:
    """The mean cost by number of coordinates, where it was measured."""
    for name in (strategy, strategy.partition(":")[0]):
        if name in measured.index.unique("strategy"):
            return measured.xs(name, level="strategy").sort_index()
    return measured.groupby(level="d").mean()
