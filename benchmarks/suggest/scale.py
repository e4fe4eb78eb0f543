"""What a suggestion costs as data, parameters and workers grow.

    python -m benchmarks.suggest.scale                                    all of it
    python -m benchmarks.suggest.scale --sizes 10x500 10x1000 --workers 16 64
    python -m benchmarks.suggest.scale --sizes --workers                  only a mixed space beside a plain one
    python -m benchmarks.suggest.scale --sizes --workers --spaces --reach 10000    256 workers, an hour
    python -m benchmarks.suggest.scale --sizes --workers --spaces --reach 1000 --known 10000    after so many results

Data: n results are observed, then twenty points are asked for and told. The first suggestion learns the
hyper-parameters, the others mostly do not. Times are processor seconds, and in Cholesky factorizations (`dpotrf`) of
that n, timed in the same process, as long as the posterior has all n; memory is the peak of a process that does
nothing else.

Spaces: four real parameters, and two beside a whole number and a choice. Results are observed that lie at any distance
from the minimum, as a run leaves them, then forty points are asked for and told. Times are the mean of all suggestions
but the first one; memory is what the process has in the end.

Workers: q of them on the virtual clock, three evaluations for each, five parameters. No point may come twice.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import cos, sin
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import TypeVar

import numpy as np
from scipy.linalg import lapack

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.arrays import Array
from aegisbo.events import Asked
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from aegisbo.strategies.surrogates import CONDITIONED_ON
from aegisbo.study import Study

T = TypeVar("T")

SIZES = ("10x500", "10x1000", "10x2000", "10x5000", "10x10000", "10x50000", "50x200")
SPACES = (100, 500, 1000, 3000)  # results
WORKERS = (1, 16, 64, 256)
MOST_WORKERS = 256  # of a run that reaches many results
STAGE = 1000  # results after which such a run tells what suggestions took
ASKS = 20
ASKS_IN_SPACES = 40
PLAIN = {"a": Real(-1, 1), "b": Real(-1, 1), "c": Real(1, 64), "d": Real(0, 2)}
MIXED = {"a": Real(-1, 1), "b": Real(-1, 1), "c": Int(1, 64), "d": Choice(["x", "y", "z"])}
PARAMETERS = 5  # of the runs with many workers
EVALUATIONS = 3  # for each worker
LEAST = 30  # evaluations, however few workers


def valley(x: Array) -> float:
    """Rosenbrock's function, which any number of parameters can have."""
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def box(d: int) -> list[tuple[float, float]]:
    """Where Rosenbrock's function is looked at."""
    return [(-5.0, 10.0)] * d


class Timed(Optimizer):
    """Takes down the processor seconds of each suggestion that a model made."""

    def __init__(self, space: object, n_initial: int | None = None) -> None:
        super().__init__(space, seed=0, n_initial=n_initial)
        self.seconds: list[float] = []

    def choose(self, within: float | None = None) -> Asked:
        begin = process_time()
        point = super().choose(within)
        if point.note["move"] != "initial":
            self.seconds.append(process_time() - begin)
        return point


@dataclass(frozen=True)
class Cost:
    """What some suggestions took after n results."""

    suggestions: list[float]  # processor seconds of each
    megabytes: float  # at the peak
    cholesky: float  # processor seconds of one factorization of that size; NaN if the posterior has not all data


def with_data(d: int, n: int) -> Cost:
    optimizer = Timed(box(d), n_initial=0)
    for x in np.random.default_rng(0).uniform(-5.0, 10.0, (n, d)):
        optimizer.observe(x, valley(x))
    for _ in range(ASKS):
        trial = optimizer.ask()
        optimizer.tell(trial, valley(trial.x))
    peak = peak_megabytes()
    return Cost(optimizer.seconds, peak, cholesky_seconds(n) if n <= CONDITIONED_ON else float("nan"))


def ripples(a: float, b: float, c: float, d: float | str) -> float:
    """A smooth function of either space, whose lowest point is near the middle of one face."""
    e = {"x": 0.0, "y": 1.0, "z": 2.0}[d] if isinstance(d, str) else d
    u, v, w = a - 0.3, b + 0.2, (c - 20.0) / 20.0
    return u**2 + 2.0 * v**2 * (1.0 + 0.3 * e) + w**2 + 0.3 * e + 0.5 * sin(5 * a + 3 * b + w) + 0.3 * cos(6 * b + e)


def in_space(space: Mapping[str, Real | Int | Choice], n: int) -> tuple[float, float]:
    """Mean processor seconds of a suggestion after n results, and megabytes of the process in the end."""
    optimizer, rng = Timed(space, n_initial=0), np.random.default_rng(0)
    cube = optimizer.space.cube
    anywhere = cube.fill(rng.random((n, cube.parameters)))
    lowest = min(anywhere, key=lambda z: ripples(**optimizer.space.params(z)))
    share = 10.0 ** rng.uniform(-3.0, 0.0, (n, 1))
    for z in cube.round(lowest + share * (anywhere - lowest)):
        params = optimizer.space.params(z)
        optimizer.observe(params, ripples(**params))
    for _ in range(ASKS_IN_SPACES):
        trial = optimizer.ask()
        optimizer.tell(trial, ripples(**trial.params))
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return fmean(optimizer.seconds[1:]), resident


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def cholesky_seconds(n: int) -> float:
    times = []
    for _ in range(3):
        matrix = np.asfortranarray(np.eye(n) + 0.5)
        begin = process_time()
        lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        times.append(process_time() - begin)
    return median(times)


def with_workers(q: int) -> tuple[list[float], int]:
    """Processor seconds of each suggestion, and how many points came again."""
    optimizer = Timed(box(PARAMETERS))
    workers = VirtualWorkers(valley, q, half_normal, seed=0, free=2 * PARAMETERS)
    run(Study(optimizer), workers, max(EVALUATIONS * q, LEAST))
    return optimizer.seconds, len(optimizer.trials) - len({tuple(trial.x) for trial in optimizer.trials})


def reach(results: int, known: int) -> None:
    """Run with many workers until there are so many more results, and tell in stages what suggestions took."""
    optimizer = Timed(box(PARAMETERS))
    rng = np.random.default_rng(0)
    for _ in range(known):  # at any distance from the minimum, as a run leaves them
        x = np.clip(1.0 + 10.0 ** rng.uniform(-3.0, 1.0) * rng.standard_normal(PARAMETERS), -5.0, 10.0)
        optimizer.observe(x, valley(x))
    workers = VirtualWorkers(valley, MOST_WORKERS, half_normal, seed=0, free=2 * PARAMETERS)

    def watch(job: Finished) -> None:
        done = optimizer.tally().done
        if done % STAGE == 0:
            some = optimizer.seconds[-STAGE:]
            times = "".join(f"{statistic(some):12.2f}" for statistic in (median, fmean, max))
            print(f"{done:7}{times}{peak_megabytes():12.0f}{optimizer.tally().best:12.3g}", flush=True)

    print("results   median: s     mean: s  slowest: s     peak MB        best")
    run(Study(optimizer), workers, results, watch=watch)


def alone(measure: Callable[..., T], *arguments: object) -> T:
    """What is measured in a process of its own, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


def size(text: str) -> tuple[int, int]:
    """Parameters and results, as in 10x500."""
    d, n = text.split("x")
    return int(d), int(n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=size, nargs="*", default=[size(text) for text in SIZES], metavar="DxN")
    parser.add_argument("--spaces", type=int, nargs="*", default=SPACES, metavar="N", help="results in either space")
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS, metavar="Q")
    parser.add_argument("--reach", type=int, metavar="N", help="also run 256 workers until there are N results")
    parser.add_argument("--known", type=int, default=0, metavar="N", help="of this run: results known beforehand (0)")
    options = parser.parse_args()
    print(
        "  d      n   Cholesky   first: s  factorizations   median: s  factorizations   mean: s  slowest: s   peak MB"
    )
    for d, n in options.sizes:
        cost = alone(with_data, d, n)
        first, others = cost.suggestions[0], cost.suggestions[1:]
        line = (
            f"{d:3}{n:7}{cost.cholesky:9.3f} s{first:11.2f}{first / cost.cholesky:16.1f}"
            f"{median(others):12.2f}{median(others) / cost.cholesky:16.1f}{fmean(others):10.2f}{max(others):12.2f}"
            f"{cost.megabytes:10.0f}"
        )
        print(line.replace("nan", "  -"), flush=True)
    print("results    plain: s    mixed: s    ratio    plain: MB    mixed: MB")
    for n in options.spaces:
        (plain, of_plain), (mixed, of_mixed) = (alone(in_space, space, n) for space in (PLAIN, MIXED))
        print(f"{n:7}{plain:12.3f}{mixed:12.3f}{mixed / plain:9.1f}{of_plain:13.0f}{of_mixed:13.0f}", flush=True)
    print("workers   suggestions by a model    median: ms    slowest: ms    repeated points")
    for q in options.workers:
        seconds, repeats = with_workers(q)
        print(f"{q:7}{len(seconds):25}{1e3 * median(seconds):14.0f}{1e3 * max(seconds):15.0f}{repeats:19}", flush=True)
    if options.reach:
        reach(options.reach, options.known)


if __name__ == "__main__":
    main()
