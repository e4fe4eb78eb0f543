"""How well `aegisbo credit` tells a good adviser from a useless and a hostile one.

    python -m benchmarks.workers.credit credit.jsonl [--seeds 5] [--runs 12]
    python -m benchmarks.workers.credit credit.jsonl --real 20
    python -m benchmarks.workers.credit harm.jsonl --harm [--seeds 5]

A study is a run of 24 evaluations in which three advisers, in turn, give every other point from the fifth on: `good` a
minimizer moved by a twentieth of the box, `useless` a random point, `hostile` the worst of 200 random points. From the
study alone `credit` says what each brought. With --real the function itself is asked: runs with other seeds and the
same points of advisers, and without those of one adviser. The strategy is `random`: it is quick, and a useless adviser
is as good as it. With --harm the default strategy makes 60 evaluations of which every fifth is the point of one
adviser, and its regret is compared with that of runs which have nobody's points. The file keeps what was computed: stop
at any time, and repeat the command to go on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo import Optimizer
from aegisbo.advice import credit
from aegisbo.advice.credit import SHARES
from aegisbo.simulation.problem import Problem
from aegisbo.simulation.problems import get
from benchmarks.rows import Kept
from benchmarks.sign_test import sign_test

PROBLEMS = ("Branin", "GoldsteinPrice", "SixHumpCamel", "Hartmann3")
STRATEGY = "random"
BUDGET, FIRST, EVERY = 24, 4, 2
SPREAD = 0.05  # of the box, by which the good adviser is off
HARMED = (*PROBLEMS, "StyblinskiTang5", "Hartmann6")
WHOLE, NTH = 60, 5  # evaluations of a run in which an adviser may harm, and which of them are its points
OWN = WHOLE - WHOLE // NTH
SMALLEST = 1e-9  # regrets below it count as equal
Row = dict[str, Any]


def good(problem: Problem, rng: Generator) -> np.ndarray:
    low, high = np.array(problem.bounds).T
    known = problem.minimizers[rng.integers(len(problem.minimizers))]
    return np.clip(known + SPREAD * (high - low) * rng.standard_normal(problem.d), low, high)


def useless(problem: Problem, rng: Generator) -> np.ndarray:
    low, high = np.array(problem.bounds).T
    return rng.uniform(low, high)


def hostile(problem: Problem, rng: Generator) -> np.ndarray:
    return max((useless(problem, rng) for _ in range(200)), key=problem)


ADVISERS: dict[str, Callable[[Problem, Generator], np.ndarray]] = {"good": good, "useless": useless, "hostile": hostile}


def points_of(problem: Problem, seed: int) -> dict[int, tuple[str, list[float]]]:
    """The points of all advisers, by number of the trial."""
    rng, names = default_rng([seed, 1]), list(ADVISERS)
    numbers = range(FIRST, BUDGET, EVERY)
    shift = int(rng.integers(len(names)))
    authors = [names[(k + shift) % len(names)] for k in range(len(numbers))]
    return {n: (author, ADVISERS[author](problem, rng).tolist()) for n, author in zip(numbers, authors, strict=True)}


def run(
    problem: Problem,
    seed: int,
    points: dict[int, tuple[str, list[float]]],
    budget: int = BUDGET,
    strategy: str = STRATEGY,
) -> Optimizer:
    """A run on the function itself, one evaluation after the other."""
    optimizer = Optimizer(list(problem.bounds), seed=seed, strategy=strategy)
    for number in range(budget):
        if number in points:
            author, x = points[number]
            optimizer.add(x, author=author)
        trial = optimizer.ask()
        optimizer.tell(trial, problem(trial.x), seconds=1.0)
    return optimizer


def lengths(optimizer: Optimizer, levels: Iterable[float]) -> list[int]:
    """Evaluations until each level; the last one if it was not reached."""
    best = np.minimum.accumulate([trial.value for trial in optimizer.trials])
    return [int(np.argmax(best <= level)) + 1 if best[-1] <= level else len(best) for level in levels]


def study(name: str, seed: int, runs: int) -> Row:
    """What `credit` says of one study."""
    problem = get(name)
    optimizer = run(problem, seed, points_of(problem, seed))
    began = time.process_time()
    said = {each.author: [each.mean, *each.interval] for each in credit(optimizer, runs=runs).credits}
    return {"seconds": time.process_time() - began, "said": said}


def real(name: str, seed: int, others: int) -> Row:
    """What the function itself says of it: runs with other seeds."""
    problem, points = get(name), points_of(get(name), seed)
    values = np.array([trial.value for trial in run(problem, seed, points).trials])
    levels = [values.min() + share * (np.median(values) - values.min()) for share in SHARES]
    without = {who: {n: point for n, point in points.items() if point[0] != who} for who in ("nobody", *ADVISERS)}
    took = {
        who: fmean(fmean(lengths(run(problem, 1000 * seed + k, given), levels)) for k in range(others))
        for who, given in without.items()
    }
    return {"true": {who: took[who] - took["nobody"] for who in ADVISERS}}


def harm(name: str, seed: int) -> Row:
    """The regret of the default strategy after each evaluation: alone, and with a share of each adviser's points."""
    problem, found = get(name), dict[str, list[float]]()
    for who in ("nobody", *ADVISERS):
        rng = default_rng([seed, 2])
        numbers = range(NTH - 1, WHOLE, NTH) if who in ADVISERS else ()
        points = {number: (who, ADVISERS[who](problem, rng).tolist()) for number in numbers}
        values = [trial.value for trial in run(problem, seed, points, WHOLE, "aegis").trials]
        found[who] = problem.scores(np.array(values)).tolist()
    return {"regret": found}


def tell(found: list[Row]) -> None:
    print("| adviser | evaluations sooner, mean | helped | cost more | unclear |\n|---|---|---|---|---|")
    for author in ADVISERS:
        told = [row["said"][author] for row in found]
        helped, cost = sum(low > 0 for _, low, _ in told), sum(high < 0 for _, _, high in told)
        mean = fmean(mean for mean, _, _ in told)
        print(f"| {author} | {mean:.1f} | {helped} | {cost} | {len(told) - helped - cost} |")
    tell_orders([{author: row["said"][author][0] for author in ADVISERS} for row in found])
    print(f"\nSeconds of processor time for one credit: {median(row['seconds'] for row in found):.0f} (median).")


def tell_real(found: list[Row]) -> None:
    print("| adviser | evaluations sooner, mean |\n|---|---|")
    for author in ADVISERS:
        print(f"| {author} | {fmean(row['true'][author] for row in found):.1f} |")
    tell_orders([row["true"] for row in found])


def tell_harm(found: list[Row]) -> None:
    print(f"{len(found)} runs of {WHOLE} evaluations with an adviser\n")
    print("| adviser | alone after | ratio of regrets, median | lower : higher | p |\n|---|---|---|---|---|")
    for author, alone in ((author, alone) for author in ADVISERS for alone in (WHOLE, OWN)):
        pairs = [
            (max(row["regret"][author][-1], SMALLEST), max(row["regret"]["nobody"][alone - 1], SMALLEST))
            for row in found
        ]
        lower, higher = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
        ratio, p = median(a / b for a, b in pairs), sign_test(lower, higher)
        print(f"| {author} | {alone} | {ratio:.2g} | {lower} : {higher} | {p:.2g} |")


def tell_orders(found: list[dict[str, float]]) -> None:
    orders: dict[str, Callable[[dict[str, float]], bool]] = {
        "good above both others": lambda of: of["good"] > max(of["useless"], of["hostile"]),
        "useless above hostile": lambda of: of["useless"] > of["hostile"],
        "good, useless, hostile": lambda of: of["good"] > of["useless"] > of["hostile"],
    }
    print(f"\n| order | of {len(found)} |\n|---|---|")
    for order, holds in orders.items():
        print(f"| {order} | {sum(map(holds, found))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--real", type=int, metavar="SEEDS", default=0)
    parser.add_argument("--harm", action="store_true", help="what an adviser costs the default strategy")
    given = parser.parse_args()
    problems = HARMED if given.harm else PROBLEMS
    jobs = [(name, seed) for seed in range(given.seeds) for name in problems]
    kept = Kept(given.file, ("problem", "seed"), "regret" if given.harm else "true" if given.real else "said")
    if given.harm:
        tell_harm([kept.get(job, harm, *job) for job in jobs])
    elif given.real:
        tell_real([kept.get(job, real, *job, given.real) for job in jobs])
    else:
        tell([kept.get(job, study, *job, given.runs) for job in jobs])


if __name__ == "__main__":
    main()
