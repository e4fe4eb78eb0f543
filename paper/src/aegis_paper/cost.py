"""What runs cost in seconds of one core, and what the whole paper would."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from aegis_paper.plan import load_plan
from aegis_paper.records import Records
from aegisbo.errors import InvalidInput
from aegisbo.simulation.problems import get

THE_PAPER = ("synthetic", "sequential", "ablation", "epsilon", "gamma", "profet", "push")  # plans

BUDGET = 200  # evaluations in each of its runs

Kind = tuple[str, int]  # strategy and number of coordinates


@dataclass(frozen=True)
class Projection:
    """The cost of many runs, told from that of a few."""

    runs: int
    seconds: float  # of one core
    measured: int  # of the runs, those whose strategy and number of coordinates were measured


def measured_seconds(records: Records, preset: str) -> dict[Kind, list[float]]:
    """What the runs on record cost that are as long as the paper's, by strategy and number of coordinates."""
    seconds: defaultdict[Kind, list[float]] = defaultdict(list)
    for cell in records.cells():
        comparable = (cell.preset, cell.budget) == (preset, BUDGET)
        costs = records.core_seconds(cell).values() if comparable else ()
        if costs:
            seconds[cell.strategy, get(cell.problem).d] += costs
    return dict(seconds)


def runs_of_the_paper() -> Counter[Kind]:
    """How many runs of each kind the paper's tables and figures are made of.

    The paper repeated some runs under another name, which our plans do not: the schedules of ε on problems of up to
    four coordinates, where they are one, and the shares 0 and 1 of Thompson sampling, which the ablation has.
    """
    runs: Counter[Kind] = Counter()
    cells = {cell: count for name in THE_PAPER for cell, count in load_plan(name).cells().items()}
    for cell, count in cells.items():
        runs[cell.strategy, get(cell.problem).d] += count
    for cell, count in load_plan("epsilon").cells().items():
        if get(cell.problem).d <= 4:
            runs[cell.strategy, get(cell.problem).d] += 2 * count
    for cell, count in load_plan("gamma").cells().items():
        if cell.strategy in ("aegis-no-ts", "aegis-no-pf"):
            runs[cell.strategy, get(cell.problem).d] += count
    return runs


def projected(runs: Mapping[Kind, int], measured: Mapping[Kind, list[float]]) -> Projection:
    """The cost of these runs, linear in the number of coordinates between those that were measured.

    A strategy that was not measured costs what it does without its parameters, or else the average of all strategies.
    """
    if not measured:
        raise InvalidInput(f"No run of {BUDGET} evaluations has been measured: do some with `aegis-paper run`.")
    lines = {strategy: _by_dimension(strategy, measured) for strategy, _ in runs}
    seconds = sum(count * float(np.interp(d, *lines[strategy])) for (strategy, d), count in runs.items())
    known = sum(count for kind, count in runs.items() if kind in measured)
    return Projection(sum(runs.values()), seconds, known)


def _by_dimension(strategy: str, measured: Mapping[Kind, list[float]]) -> tuple[list[int], list[float]]:
    """Numbers of coordinates that were measured, and the mean cost at each."""
    for name in (strategy, strategy.partition(":")[0]):
        costs = {d: fmean(seconds) for (other, d), seconds in sorted(measured.items()) if other == name}
        if costs:
            return list(costs), list(costs.values())
    dimensions = sorted({d for _, d in measured})
    return dimensions, [fmean(fmean(s) for (_, other), s in measured.items() if other == d) for d in dimensions]
