"""How well `aegisbo credit` tells a good adviser from a useless and a hostile one, and what a hostile one costs.

    python -m benchmarks.workers.credit credit.jsonl [--seeds 5] [--runs 6]
    python -m benchmarks.workers.credit credit.jsonl --harm 20

A study is a run of 24 evaluations in which three advisers, in turn, give every other point from the fifth on: `good` a
minimizer moved by a twentieth of the box, `useless` a random point, `hostile` the worst of 200 random points. From the
study alone `credit` says what each brought. Beside it stands what the function itself says: runs with other seeds and
the same points of advisers, and without those of one adviser.

With --harm, runs of 40 evaluations in which a hostile seat with a share of 0.2 adds whatever it may, beside runs of 32
and of 40 without it. The file keeps what was computed: stop at any time, and repeat the command to go on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
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

PROBLEMS = ("Branin", "GoldsteinPrice", "SixHumpCamel", "Hartmann3")
PRESET = "modern"  # which chooses faster than the default
BUDGET, FIRST, EVERY = 24, 4, 2
LONG, SHARE = 40, 0.2  # of runs with a hostile seat
OTHERS = 5  # other seeds with which the function itself is asked
SPREAD = 0.05  # of the box, by which the good adviser is off
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


def run(problem: Problem, seed: int, points: dict[int, tuple[str, list[float]]], budget: int = BUDGET) -> Optimizer:
    """A run on the function itself, one evaluation after the other."""
    optimizer = Optimizer(list(problem.bounds), seed=seed, preset=PRESET)
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
    """What `credit` says of one study, and what the function says."""
    problem, points = get(name), points_of(get(name), seed)
    with_all = run(problem, seed, points)
    values = np.array([trial.value for trial in with_all.trials])
    levels = [values.min() + share * (np.median(values) - values.min()) for share in SHARES]
    began = time.process_time()
    said = {each.author: each for each in credit(with_all, runs=runs).credits}
    took = time.process_time() - began
    without = {who: {n: point for n, point in points.items() if point[0] != who} for who in ("nobody", *ADVISERS)}
    real = {
        who: fmean(fmean(lengths(run(problem, 1000 * seed + k, given), levels)) for k in range(OTHERS))
        for who, given in without.items()
    }
    true = {who: [real[who] - real["nobody"]] for who in ADVISERS}
    return {
        "problem": name,
        "seed": seed,
        "seconds": took,
        "said": {name: [each.mean, *each.interval] for name, each in said.items()},
        "true": true,
    }


def harm(name: str, seed: int) -> Row:
    """The regret of runs with a hostile seat that adds whatever it may, and without it."""
    problem, rng = get(name), default_rng([seed, 2])
    numbers = range(int(1 / SHARE) - 1, LONG, int(1 / SHARE))
    points = {n: ("hostile", hostile(problem, rng).tolist()) for n in numbers}
    runs = {"with": (LONG, points), "without": (LONG, {}), "shorter": (round((1 - SHARE) * LONG), {})}
    regrets = {}
    for which, (budget, given) in runs.items():
        regrets[which] = run(problem, seed, given, budget).result().fun - (problem.minimum or 0.0)
    return {"problem": name, "seed": seed, "harm": regrets}


def rows(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def computed(
    file: Path, jobs: Iterable[tuple[str, int]], compute: Callable[[str, int], Row], key: str
) -> Iterator[Row]:
    known = {(row["problem"], row["seed"]): row for row in rows(file) if key in row}
    for job in jobs:
        if job not in known:
            known[job] = compute(*job)
            with file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(known[job]) + "\n")
        yield known[job]


def tell(found: list[Row]) -> None:
    print("| adviser | said, mean | true, mean | helped | cost more | unclear |")
    print("|---|---|---|---|---|---|")
    for author in ADVISERS:
        told = [row["said"][author] for row in found]
        helped, cost = sum(low > 0 for _, low, _ in told), sum(high < 0 for _, _, high in told)
        true = fmean(row["true"][author][0] for row in found)
        means = f"{fmean(mean for mean, _, _ in told):.1f} | {true:.1f}"
        print(f"| {author} | {means} | {helped} | {cost} | {len(told) - helped - cost} |")
    orders = {
        "good above both others": lambda of: of["good"] > max(of["useless"], of["hostile"]),
        "useless above hostile": lambda of: of["useless"] > of["hostile"],
        "good, useless, hostile": lambda of: of["good"] > of["useless"] > of["hostile"],
    }
    print(f"\n| order | said, of {len(found)} | true |\n|---|---|---|")
    for order, holds in orders.items():
        counts = (sum(holds({a: row[which][a][0] for a in ADVISERS}) for row in found) for which in ("said", "true"))
        print(f"| {order} | {' | '.join(map(str, counts))} |")
    pairs = [(row["said"][a][0], row["true"][a][0]) for row in found for a in ADVISERS]
    print(f"\nCorrelation of said and true: {np.corrcoef(np.array(pairs).T)[0, 1]:.2f}.")
    print(f"Seconds of processor time for one credit: {median(row['seconds'] for row in found):.0f} (median).")


def tell_harm(found: list[Row]) -> None:
    shorter = round((1 - SHARE) * LONG)
    print(f"\n| function | {LONG} evaluations | of them a fifth hostile | {shorter} without |\n|---|---|---|---|")
    for name in PROBLEMS:
        some = [row["harm"] for row in found if row["problem"] == name]
        print(
            f"| {name} | "
            + " | ".join(f"{median(row[w] for row in some):.2g}" for w in ("without", "with", "shorter"))
            + " |"
        )
    worse = sum(row["harm"]["with"] > row["harm"]["shorter"] for row in found)
    print(f"\nWith the hostile seat worse than the shorter run in {worse} of {len(found)} pairs.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--harm", type=int, metavar="SEEDS", default=0)
    given = parser.parse_args()
    if given.harm:
        jobs = [(name, seed) for name in PROBLEMS for seed in range(given.harm)]
        tell_harm(list(computed(given.file, jobs, harm, "harm")))
        return
    jobs = [(name, seed) for seed in range(given.seeds) for name in PROBLEMS]
    tell(list(computed(given.file, jobs, lambda name, seed: study(name, seed, given.runs), "said")))


if __name__ == "__main__":
    main()
