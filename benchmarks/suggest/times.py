"""How long one suggestion takes: ours, the same work done by others, and the floor under both.

Times are processor time of the one thread, not time on the clock: other programs on the machine do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median

import numpy as np
import torch
from scipy.linalg import lapack

from aegisbo.arrays import Array
from benchmarks.suggest import botorch as theirs
from benchmarks.suggest import ours
from benchmarks.suggest.data import COMPARED, Data, mid_run
from benchmarks.suggest.lines import Line, print_table
from benchmarks.suggest.optuna import prepared_ask

Prepared = Callable[[int], Callable[[], object]]  # seed -> what is timed; the making of it is not
BRANCHES = ("exploit", "thompson", "pareto")
LARGE = tuple((10, n) for n in (500, 1000, 2000))
REPEATS, THEIR_REPEATS, LARGE_REPEATS = 7, 3, 3


@dataclass(frozen=True)
class Cell:
    """Milliseconds by column, the mean over the functions of dimension d; "botorch exploit" and such are theirs."""

    d: int
    n: int
    milliseconds: dict[str, float]

    @property
    def compared(self) -> bool:
        """Whether theirs were measured too."""
        return "botorch fit" in self.milliseconds

    def suggestion(self, fit: str) -> float:
        """Ours: a fit, cold or warm, and the mean of the three branches."""
        return self.milliseconds[fit] + fmean(self.milliseconds[branch] for branch in BRANCHES)

    def their_suggestion(self) -> float:
        """BoTorch's: a fit and the mean of the three branches."""
        return self.milliseconds["botorch fit"] + fmean(self.milliseconds[f"botorch {branch}"] for branch in BRANCHES)


def measure(quick: bool) -> list[Cell]:
    compared, large = (((2, 50), (5, 100), (10, 200)), ((10, 500),)) if quick else (COMPARED, LARGE)
    _time(_all_columns(mid_run(2, 20)[0]), repeats=1)  # whatever happens only once has then happened
    cells = [_cell(d, n, _all_columns, THEIR_REPEATS if quick else REPEATS) for d, n in compared]
    return cells + [_cell(d, n, _our_columns, LARGE_REPEATS) for d, n in large]


def _cell(d: int, n: int, columns: Callable[[Data], dict[str, Prepared]], repeats: int) -> Cell:
    times = [_time(columns(data), repeats) for data in mid_run(d, n)]
    print(f"measured d = {d}, n = {n}", flush=True)
    return Cell(d, n, {column: fmean(each[column] for each in times) for column in times[0]})


def _time(columns: dict[str, Prepared], repeats: int) -> dict[str, float]:
    """Median milliseconds of each column, all measured in turn: a slow spell of the machine hits all of them."""
    times: dict[str, list[float]] = {column: [] for column in columns}
    for repeat in range(repeats):
        for column, prepare in columns.items():
            if column.startswith("botorch") and repeat >= THEIR_REPEATS:
                continue
            torch.manual_seed(repeat)
            run = prepare(repeat)
            start = time.process_time()
            run()
            times[column].append(1e3 * (time.process_time() - start))
    return {column: median(values) for column, values in times.items()}


def _our_columns(data: Data) -> dict[str, Prepared]:
    warm = ours.fit(data.without_last(), np.random.default_rng(0)).phi
    gp = ours.fit(data, np.random.default_rng(0), warm).gp
    K = gp.kernel.gram(data.X) + gp.noise * np.eye(data.n)
    return {
        "floor": lambda seed: lambda: _floor(K),
        "fit cold": lambda seed: lambda: ours.fit(data, np.random.default_rng(seed)),
        "fit warm": lambda seed: lambda: ours.fit(data, np.random.default_rng(seed), warm),
        "exploit": lambda seed: lambda: ours.exploit(gp, np.random.default_rng(seed)),
        "thompson": lambda seed: lambda: ours.thompson(gp, np.random.default_rng(seed)),
        "pareto": lambda seed: lambda: ours.pareto(gp, np.random.default_rng(seed)),
    }


def _all_columns(data: Data) -> dict[str, Prepared]:
    model = theirs.fit(data, np.random.default_rng(0))
    return _our_columns(data) | {
        "botorch fit": lambda seed: lambda: theirs.fit(data, np.random.default_rng(seed)),
        "botorch exploit": lambda seed: lambda: theirs.exploit(model),
        "botorch thompson": lambda seed: lambda: theirs.thompson(model),
        "botorch pareto": lambda seed: lambda: theirs.pareto(model, seed),
        "optuna ask": lambda seed: prepared_ask(data, seed),
    }


def _floor(K: Array) -> None:
    """What any likelihood with its gradient needs: a Cholesky factor and an inverse."""
    L, _ = lapack.dpotrf(K, lower=1)
    lapack.dpotri(L, lower=1, overwrite_c=1)


def print_tables(cells: list[Cell]) -> None:
    compared = [cell for cell in cells if cell.compared]
    print_table(
        "Milliseconds, ours; the floor is one Cholesky factor and one inverse",
        [(cell.d, cell.n, _columns(cell, "floor", "fit cold", "fit warm", *BRANCHES)) for cell in cells],
    )
    print_table(
        "Milliseconds, BoTorch + GPyTorch + pymoo at the same work; one ask of Optuna's GPSampler",
        [
            (cell.d, cell.n, _columns(cell, "fit", *BRANCHES, whose="botorch ") | _columns(cell, "optuna ask"))
            for cell in compared
        ],
    )
    print_table("How many times longer theirs take", [(cell.d, cell.n, _ratios(cell)) for cell in compared])


def _columns(cell: Cell, *columns: str, whose: str = "") -> dict[str, float]:
    return {column: cell.milliseconds[whose + column] for column in columns}


def _ratios(cell: Cell) -> dict[str, float]:
    """Theirs over ours, step by step; the last three columns are whole suggestions."""
    times = cell.milliseconds
    ratios = {fit: times["botorch fit"] / times[fit] for fit in ("fit cold", "fit warm")}
    ratios |= {branch: times[f"botorch {branch}"] / times[branch] for branch in BRANCHES}
    ratios |= {f"all, {fit}": cell.their_suggestion() / cell.suggestion(fit) for fit in ("fit cold", "fit warm")}
    return ratios | {"optuna": times["optuna ask"] / cell.suggestion("fit warm")}


def targets(cells: list[Cell]) -> list[Line]:
    """The ratios that have a target."""
    lines = []
    for fit in ("fit cold", "fit warm"):
        ratios = [cell.suggestion(fit) / cell.their_suggestion() for cell in cells if cell.compared]
        lines.append(
            Line(f"suggestion over BoTorch's, {fit}, geometric mean", geometric_mean(ratios), "<= 1/30 = 0.033")
        )
    for cell in cells:
        if cell.n == 200:
            floors = cell.milliseconds["fit warm"] / cell.milliseconds["floor"]
            lines.append(Line(f"warm fit at n = 200, d = {cell.d}, in floors", floors, "<= 60"))
    return lines + _growth({cell.n: cell for cell in cells if cell.d == 10})


def _growth(by_n: dict[int, Cell]) -> list[Line]:
    if 2000 not in by_n:
        return []
    small, large = by_n[1000], by_n[2000]
    factors = {what: large.milliseconds[what] / small.milliseconds[what] for what in ("floor", "fit warm")}
    factors["suggestion"] = large.suggestion("fit warm") / small.suggestion("fit warm")
    return [Line(f"growth from n = 1000 to 2000, {what}", factor, "<= 8") for what, factor in factors.items()]
