"""How well `aegisbo advise` foretells how long other teams of workers take, and how many times as fast they are.

    python -m benchmarks.workers.advise advise.jsonl [--studies 3] [--seeds 10]

All on the virtual clock, where functions and job times are known. A study is a run with 4 workers. From it alone
`advise` says how long 2, 4 and 8 workers would take to find what it has found. Then such teams are run with the
function itself, with other seeds. The file keeps what was computed: stop at any time, and repeat the command to go on.
At its end it prints the tables of docs/advise.md.

A forecast is as good as it claims if about half of the real runs lie within its middle half.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.advice.advise import PATIENCE, RUNS, foretold
from aegisbo.outcome import Wanted, judged
from aegisbo.review.record import record_of
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.search.hypervolume import GrowingFront
from aegisbo.simulation.laws import Law, constant, exponential, half_normal, pareto
from aegisbo.study import Study
from benchmarks.regret.starts import ByPoint
from benchmarks.rows import Kept

OWN = 4  # workers of a study
TEAMS = (OWN, 2, 8)
REAL = 1000  # the first seed of real runs

Point = dict[str, Any]
Row = dict[str, Any]  # JSON-able


def bowl(p: Point) -> float:
    return (p["x"] - 0.3) ** 2 + 2.0 * (p["y"] + 0.2) ** 2 + 0.5 * (p["z"] - 0.1) ** 2


def ripples(p: Point) -> float:
    x, y = p["x"] - 0.9, p["y"] + 0.6
    return x**2 / 4.0 + y**2 / 4.0 + 0.4 * (2.0 - math.cos(5.0 * x) - math.cos(4.0 * y))


def valley(p: Point) -> float:
    return 100.0 * (p["y"] - p["x"] ** 2) ** 2 + (1.0 - p["x"]) ** 2


def training(p: Point) -> float:
    kinks = 4.0 * abs(p["momentum"] - 0.8) + abs(p["width"] - 100) / 200.0
    return (math.log10(p["lr"]) + 2.0) ** 2 + kinks + {"adam": 0.0, "sgd": 0.3, "adagrad": 1.0}[p["optimizer"]]


def bowls(p: Point) -> dict[str, float]:
    return {"left": bowl(p), "right": (p["x"] + 0.5) ** 2 + (p["y"] - 0.4) ** 2 + (p["z"] - 0.1) ** 2}


def waves(p: Point) -> dict[str, float]:
    return {"rippled": ripples(p), "plain": (p["x"] + 1.0) ** 2 + 0.5 * (p["y"] - 1.0) ** 2}


@dataclass(frozen=True)
class Problem:
    """A function, where it is minimized, how long a job takes, and the evaluations of a study."""

    function: Callable[[Point], Any]
    space: dict[str, Any]
    law: Law
    budget: int
    seconds: Callable[[Point], float] = lambda point: 1.0  # times what the law says
    objectives: tuple[str, ...] = ()  # if there are several

    def optimizer(self, seed: int) -> Optimizer:
        return Optimizer(self.space, seed=seed, objectives=dict.fromkeys(self.objectives, "min") or None)


PROBLEMS = {
    "bowl": Problem(bowl, dict.fromkeys("xyz", (-1.0, 1.0)), half_normal, 40),
    "ripples": Problem(ripples, dict.fromkeys("xy", (-3.0, 3.0)), exponential, 50),
    "valley": Problem(valley, {"x": (-2.0, 2.0), "y": (-1.0, 3.0)}, pareto, 50),
    "training": Problem(
        training,
        {
            "lr": Real(1e-5, 1.0, log=True),
            "momentum": (0.0, 1.0),
            "width": Int(16, 512, log=True),
            "optimizer": Choice(["adam", "sgd", "adagrad"]),
        },
        constant,
        40,
        seconds=lambda point: 0.5 + point["width"] / 50.0,
    ),
    "bowls": Problem(bowls, dict.fromkeys("xyz", (-1.0, 1.0)), half_normal, 30, objectives=("left", "right")),
    "waves": Problem(waves, dict.fromkeys("xy", (-3.0, 3.0)), exponential, 40, objectives=("rippled", "plain")),
}


class Workers(ByPoint):
    """Virtual workers with the job times of a problem."""

    def __init__(self, problem: Problem, workers: int, seed: int) -> None:
        judge = partial(judged, wanted=Wanted(problem.objectives))
        super().__init__(problem.function, workers, problem.law, seed, judge=judge)
        self._problem = problem

    def seconds(self, number: int) -> float:
        return super().seconds(number) * self._problem.seconds(self.points[number])


def forecast(problem: Problem, seed: int) -> Row:
    """What is foretold from one study."""
    optimizer = problem.optimizer(seed)
    run(Study(optimizer), Workers(problem, OWN, seed), problem.budget)
    found = foretold(record_of(optimizer, several=True), [(size, False) for size in TEAMS], seed=seed)
    seconds = {f.workers: f.seconds for f in found.forecasts}
    if found.reference is None:
        return {"target": found.target, "doubtful": found.doubtful, "seconds": seconds}
    return {"target": -found.target, "reference": found.reference, "doubtful": found.doubtful, "seconds": seconds}


def real(problem: Problem, workers: int, seed: int, target: float, reference: dict[str, float] | None) -> Row:
    """When a run with the function itself had each of its best values, until it reaches the target.

    Of several objectives the value is the hypervolume, negative.
    """
    steps: list[tuple[float, float]] = []
    edge = np.array([*(reference or {}).values()])
    front = GrowingFront(edge, np.empty((0, len(edge))))

    def watch(job: Finished) -> None:
        measured = job.outcome.measured
        value = -front.add(np.array([measured[name] for name in reference])) if reference else job.outcome.value
        if not steps or value < steps[-1][1]:
            steps.append((job.finished, value))
        if steps[-1][1] <= target:
            raise StopRun("reached")

    optimizer = problem.optimizer(seed)
    run(Study(optimizer), Workers(problem, workers, seed), PATIENCE * problem.budget, watch=watch)
    return {"steps": steps}


@dataclass(frozen=True)
class Outcome:
    """A study: what it foretold for each team, and what real runs took, each in the order of its luck."""

    problem: str
    doubtful: bool  # advise warns that predictions do not hold
    foretold: dict[int, list[float]]
    real: dict[int, list[float]]

    def speedups(self, workers: int) -> tuple[list[float], list[float]]:
        """How many times as fast as the study's team, run by run: foretold and real."""
        foretold, real = (
            [base / own for base, own in zip(each[OWN], each[workers], strict=True) if math.isfinite(min(base, own))]
            for each in (self.foretold, self.real)
        )
        return foretold, real


def outcomes(kept: Kept, problems: Iterable[str], studies: int, seeds: int) -> Iterator[Outcome]:
    for name in problems:
        problem = PROBLEMS[name]
        said = [kept.get((f"{name} study {seed}",), forecast, problem, seed) for seed in range(studies)]
        for row in said:
            up_to = row.get("reference")  # studies with several objectives have one each, and so runs of their own
            lowest = min(each["target"] for each in said if each.get("reference") == up_to)
            aim = f"to {lowest!r}" + (f" up to {up_to}" if up_to else "")
            steps = {
                size: [
                    kept.get((f"{name} real {size} {seed} {aim}",), real, problem, size, seed, lowest, up_to)["steps"]
                    for seed in range(REAL, REAL + seeds)
                ]
                for size in TEAMS
            }
            yield Outcome(
                name,
                row["doubtful"],
                {int(size): seconds for size, seconds in row["seconds"].items()},
                {size: [first(each, row["target"]) for each in steps[size]] for size in TEAMS},
            )


def first(steps: Sequence[tuple[float, float]], target: float) -> float:
    return next((at for at, value in steps if value <= target), math.inf)


def quartiles(values: Sequence[float]) -> list[float]:
    return np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf").tolist()


def inside(foretold: Sequence[float], real: Sequence[float]) -> float:
    """The share of the real values within the foretold middle half."""
    low, _, high = quartiles(foretold)
    return fmean(low <= each <= high for each in real)


def off(foretold: float, real: float) -> float:
    """By which factor a forecast is wrong, in either direction."""
    return max(foretold / real, real / foretold)


def report(found: Sequence[Outcome]) -> None:
    print("| function | workers | real time, median (middle half) | foretold / real | speed-up: real | foretold |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(each.problem for each in found):
        some = [each for each in found if each.problem == name]
        for size in sorted(TEAMS):
            low, middle, high = (
                fmean(part) for part in zip(*(quartiles(each.real[size]) for each in some), strict=True)
            )
            ratios = ", ".join(f"{median(each.foretold[size]) / median(each.real[size]):.2f}" for each in some)
            speedups = [each.speedups(size) for each in some]
            truth = ", ".join(f"{median(real):.2f}" for _, real in speedups)
            said = ", ".join("{1:.2f} ({0:.2f} to {2:.2f})".format(*quartiles(foretold)) for foretold, _ in speedups)
            cells = [name, str(size), f"{middle:.3g} ({low:.3g} to {high:.3g})", ratios, truth, said]
            print(f"| {' | '.join(cells if size != OWN else [*cells[:4], '1', '1'])} |")
    print()
    for title, doubtful in (("where predictions hold", False), ("where advise warns", True)):
        if some := [each for each in found if each.doubtful == doubtful]:
            print(f"{title}: {summary(some)}")


def summary(some: Sequence[Outcome]) -> str:
    times = [(each.foretold[size], each.real[size]) for each in some for size in TEAMS]
    speedups = [each.speedups(size) for each in some for size in TEAMS if size != OWN]
    parts = [f"{len(some)} studies"]
    for what, pairs in (("time", times), ("speed-up", speedups)):
        factors = [off(median(foretold), median(real)) for foretold, real in pairs]
        parts.append(
            f"{what}: {fmean(inside(*pair) for pair in pairs):.0%} of real runs within the middle half, real median "
            f"within it {sum(inside(foretold, [median(real)]) for foretold, real in pairs):.0f} of {len(pairs)} times, "
            f"off by a factor of {median(factors):.2f} in the median, {max(factors):.2f} at most, "
            f"too small in {sum(median(foretold) < median(real) for foretold, real in pairs)}"
        )
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the file that keeps what was computed")
    parser.add_argument(
        "--studies", type=int, default=3, help=f"of each function; each foretells {RUNS} runs of a team"
    )
    parser.add_argument("--seeds", type=int, default=10, help="real runs of each team")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    given = parser.parse_args()
    report(list(outcomes(Kept(given.results, ("key",)), given.problems, given.studies, given.seeds)))


if __name__ == "__main__":
    main()
