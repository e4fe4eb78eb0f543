"""How long one suggestion takes: ours, the same work done by others, and the floor under both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median

import numpy as np
import suggest_botorch as theirs
import suggest_ours as ours
import torch
from scipy.linalg import lapack
from suggest_data import Data, mid_run
from suggest_optuna import prepared_ask

Prepared = Callable[[int], Callable[[], object]]  # seed -> what is timed; all before that is not
BRANCHES = ("exploit", "thompson", "pareto")
COMPARED = tuple((d, n) for d in (2, 5, 10) for n in (50, 100, 200))
LARGE = tuple((10, n) for n in (500, 1000, 2000))
REPEATS, THEIR_REPEATS, LARGE_REPEATS = 7, 3, 3


@dataclass(frozen=True)
class Cell:
    """Milliseconds by column, the mean over the functions of dimension d."""

    d: int
    n: int
    milliseconds: dict[str, float]

    def suggestion(self, fit: str, whose: str = "") -> float:
        """A fit and the mean of the three branches."""
        return self.milliseconds[whose + fit] + fmean(self.milliseconds[whose + branch] for branch in BRANCHES)


def measure(quick: bool) -> list[Cell]:
    compared, large = (((2, 50), (5, 100), (10, 200)), ((10, 500),)) if quick else (COMPARED, LARGE)
    _time(_every_column(mid_run(2, 20)[0]), repeats=1)  # whatever happens only once has then happened
    cells = []
    for d, n in (*compared, *large):
        repeats = (3 if quick else REPEATS) if (d, n) in compared else LARGE_REPEATS
        columns = _every_column if (d, n) in compared else _our_columns
        cells.append(_cell(d, n, [_time(columns(data), repeats) for data in mid_run(d, n)]))
        print(f"measured d = {d}, n = {n}", flush=True)
    return cells


def _cell(d: int, n: int, measured: list[dict[str, float]]) -> Cell:
    return Cell(d, n, {column: fmean(times[column] for times in measured) for column in measured[0]})


def _time(columns: dict[str, Prepared], repeats: int) -> dict[str, float]:
    """Median milliseconds of each column; all are measured in turn, so that a busy spell hits all of them."""
    times: dict[str, list[float]] = {column: [] for column in columns}
    sparse = max(repeats // THEIR_REPEATS, 1)
    for repeat in range(repeats):
        for column, prepare in columns.items():
            if column.startswith("botorch ") and repeat % sparse:
                continue
            torch.manual_seed(repeat)
            run = prepare(repeat)
            start = time.perf_counter()
            run()
            times[column].append(1e3 * (time.perf_counter() - start))
    return {column: median(values) for column, values in times.items()}


def _our_columns(data: Data) -> dict[str, Prepared]:
    warm = ours.fit(data.without_last(), np.random.default_rng(0)).phi
    gp = ours.fit(data, np.random.default_rng(0)).gp
    kernel_matrix = gp.kernel.gram(data.X) + gp.noise * np.eye(data.n)

    def seeded(step: Callable[..., object], *arguments: object) -> Prepared:
        return lambda seed: lambda: step(*arguments, np.random.default_rng(seed))

    return {
        "floor": lambda seed: lambda: _floor(kernel_matrix),
        "fit cold": seeded(ours.fit, data),
        "fit warm": lambda seed: lambda: ours.fit(data, np.random.default_rng(seed), warm),
        "exploit": seeded(ours.exploit, gp),
        "thompson": seeded(ours.thompson, gp),
        "pareto": seeded(ours.pareto, gp),
    }


def _every_column(data: Data) -> dict[str, Prepared]:
    model = theirs.fit(data, np.random.default_rng(0))
    return _our_columns(data) | {
        "botorch fit": lambda seed: lambda: theirs.fit(data, np.random.default_rng(seed)),
        "botorch exploit": lambda seed: lambda: theirs.exploit(model),
        "botorch thompson": lambda seed: lambda: theirs.thompson(model),
        "botorch pareto": lambda seed: lambda: theirs.pareto(model, seed),
        "optuna ask": lambda seed: prepared_ask(data, seed),
    }


def _floor(K: np.ndarray) -> None:
    """What any likelihood with its gradient needs: a Cholesky factor and an inverse."""
    L, _ = lapack.dpotrf(K, lower=1)
    lapack.dpotri(L, lower=1, overwrite_c=1)


def must_show(cells: list[Cell]) -> dict[str, object]:
    """The measured ratios beside their targets."""
    compared = [cell for cell in cells if "botorch fit" in cell.milliseconds]
    by_size = {(cell.d, cell.n): cell for cell in cells}
    shown: dict[str, object] = {"suggestion over BoTorch's, target": 1 / 30}
    for fit in ("fit cold", "fit warm"):
        ratios = (cell.suggestion(fit) / cell.suggestion("fit", "botorch ") for cell in compared)
        shown[f"suggestion over BoTorch's, {fit}"] = geometric_mean(ratios)
    shown["warm fit at n = 200 in floors, target"] = 60
    for d, n in by_size:
        if n == 200:
            times = by_size[d, n].milliseconds
            shown[f"warm fit at n = 200 in floors, d = {d}"] = times["fit warm"] / times["floor"]
    if {(10, 1000), (10, 2000)} <= by_size.keys():
        small, big = by_size[10, 1000], by_size[10, 2000]
        shown["growth from n = 1000 to 2000, cubic"] = 8
        shown["growth from n = 1000 to 2000, floor"] = big.milliseconds["floor"] / small.milliseconds["floor"]
        shown["growth from n = 1000 to 2000, warm fit"] = big.milliseconds["fit warm"] / small.milliseconds["fit warm"]
        shown["growth from n = 1000 to 2000, suggestion"] = big.suggestion("fit warm") / small.suggestion("fit warm")
    return shown


def print_tables(cells: list[Cell]) -> None:
    print("\nMilliseconds, ours (the floor is one Cholesky factor and one inverse)")
    _print_table(cells, ("floor", "fit cold", "fit warm", *BRANCHES))
    compared = [cell for cell in cells if "botorch fit" in cell.milliseconds]
    print("\nMilliseconds, BoTorch + GPyTorch + pymoo at the same work, and one ask of Optuna's GPSampler")
    _print_table(compared, ("botorch fit", *(f"botorch {branch}" for branch in BRANCHES), "optuna ask"))
    print("\nTimes faster than theirs")
    _print_table([_ratios(cell) for cell in compared], tuple(_ratios(compared[0]).milliseconds))


def _ratios(cell: Cell) -> Cell:
    times = cell.milliseconds
    ratios = {f: times["botorch fit"] / times[f] for f in ("fit cold", "fit warm")}
    ratios |= {branch: times[f"botorch {branch}"] / times[branch] for branch in BRANCHES}
    for fit in ("cold", "warm"):
        total = cell.suggestion(f"fit {fit}")
        ratios[f"all {fit}"] = cell.suggestion("fit", "botorch ") / total
    ratios["optuna, warm"] = times["optuna ask"] / cell.suggestion("fit warm")
    return Cell(cell.d, cell.n, ratios)


def _print_table(cells: Iterable[Cell], columns: tuple[str, ...]) -> None:
    print("  d     n" + "".join(f"{column:>18}" for column in columns))
    for cell in cells:
        print(f"{cell.d:3} {cell.n:5}" + "".join(f"{cell.milliseconds[column]:18.2f}" for column in columns))
