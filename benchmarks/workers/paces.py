"""How well the paces of workers are learned, and what the loop gains by knowing them; choices aside.

    python -m benchmarks.workers.paces [--seeds 20]
    python -m benchmarks.workers.paces --advice 3

The teams and times of `benchmarks.workers.uneven`, with the strategy `random` on StyblinskiTang5.

learned: how many of the runs know the paces after so many results, of how many workers, and how far off these are.
equal: the same with eight workers that are alike, by laws of job times: in how many runs any difference was believed.
budget: seconds until 100 evaluations have ended.
limit: evaluations that end within 25 seconds, and those that are cut off.
advice: how long a team of four takes again, half of it six times as slow, by `advise` after one study of 40 evaluations
    of *bowl* (`benchmarks.workers.advise`); the real one is the median of nine runs with other seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from statistics import fmean, median
from typing import ClassVar
from unittest.mock import patch

import numpy as np

from aegisbo import Optimizer
from aegisbo.advice.advise import foretold
from aegisbo.options import Options
from aegisbo.review.record import record_of
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.runners.run import Run
from aegisbo.simulation.clock import Member, VirtualWorkers
from aegisbo.simulation.laws import pareto
from aegisbo.strategies.paces import learned_together, paces_of
from aegisbo.study import Study
from benchmarks.workers.advise import PROBLEMS
from benchmarks.workers.uneven import STRONG, TEAMS, WORKERS, Job, Team

PROBLEM = "StyblinskiTang5"
SIZES = (20, 50, 100, 200)
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "log-normal, 0.3": lambda rng, n: np.exp(0.3 * rng.standard_normal(n)),
    "log-normal, 1": lambda rng, n: np.exp(rng.standard_normal(n)),
    "half-normal": lambda rng, n: np.abs(rng.standard_normal(n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "constant": lambda rng, n: np.ones(n),
    "log-normal, 0.1; 5 % take 50 times as long": lambda rng, n: (
        np.exp(0.1 * rng.standard_normal(n)) * np.where(rng.random(n) < 0.05, 50.0, 1.0)
    ),
}


class Blind(Study):
    """A study that takes all workers for alike."""

    paces: ClassVar[Mapping[int, float]] = {}  # type: ignore[misc]


def performed(team: str, seed: int, kind: type[Study], budget: int, **options: float) -> tuple[Optimizer, Run]:
    workers = Team(Job(PROBLEM, team, "blind", seed), seed)
    optimizer = Optimizer(workers.bounds, strategy="random", seed=seed)
    return optimizer, run(kind(optimizer), workers, budget, options=Options(retries=1000, **options))  # type: ignore[arg-type]


def told(team: str, seeds: int) -> Iterator[str]:
    """How well paces are known after some results."""
    true = np.array([1.0] * STRONG + [TEAMS[team].pace] * (WORKERS - STRONG))
    runs = [performed(team, seed, Blind, max(SIZES)) for seed in range(seeds)]
    for size in SIZES:
        known, off = [], []
        for optimizer, record in runs:
            ended = [job for job in record.finished if job.outcome.state == "done"][:size]
            X = np.array([optimizer.space.to_unit(optimizer.trials[job.number].params) for job in ended])
            seconds = np.array([job.seconds for job in ended])
            _, paces = learned_together(X, seconds, np.array([job.outcome.worker for job in ended]))
            if paces:
                known.append(sum(worker >= STRONG for worker in paces))
                off += [abs(np.log(pace / true[worker])) for worker, pace in paces.items()]
        factors = [f"{np.exp(np.quantile(off, share)):.2f}" if off else "-" for share in (0.5, 0.9)]
        weak = f"{fmean(known):.1f} of {WORKERS - STRONG}" if known else "-"
        yield f"| {team} | {size} | {len(known)} of {seeds} | {weak} | {factors[0]} | {factors[1]} |"


def believed(law: str, seed: int) -> bool:
    """Whether a difference between equal workers was believed at any time of a run of 200 evaluations."""
    rng = np.random.default_rng(seed)
    X, scatter, free = rng.random((200, 3)), LAWS[law](rng, 200), np.zeros(WORKERS)
    seconds, workers, ends = 10.0 ** X[:, 0] * scatter, np.zeros(200, dtype=int), np.zeros(200)
    for k in range(200):
        workers[k] = free.argmin()
        ends[k] = free[workers[k]] = free[workers[k]] + seconds[k]
    order = ends.argsort()
    looks = (order[:n] for n in range(6, 201, 8))
    return any(learned_together(X[some], seconds[some], workers[some])[1] for some in looks)


def again(seed: int) -> str:
    """What is foretold of an uneven team after one study, and what it takes."""
    problem, members = PROBLEMS["bowl"], (Member(), Member(), Member(6.0), Member(6.0))

    def optimized(seed: int, budget: int, target: float = -np.inf) -> tuple[Optimizer, float]:
        optimizer = problem.optimizer(seed)
        workers = VirtualWorkers(problem.function, len(members), pareto, seed, members=members)

        def watch(job: Finished) -> None:
            if job.outcome.value <= target:
                raise StopRun("reached")

        record = run(Study(optimizer), workers, budget, watch=watch)
        return optimizer, max(job.finished for job in record.finished)

    study, target, told = optimized(seed, problem.budget)[0], np.nan, []
    for found in (paces_of, lambda excess, workers: {}):
        with patch("aegisbo.strategies.paces.paces_of", found):
            study._paces = (0, {})
            advice = foretold(record_of(study), [(len(members), False)], runs=9, seed=seed)
            target = advice.target
            told.append("{1:.1f} ({0:.1f} to {2:.1f})".format(*advice.forecasts[0].time))
    real = np.quantile([optimized(1000 + k, 3 * problem.budget, target)[1] for k in range(9)], [0.25, 0.5, 0.75])
    return f"| {seed} | {' | '.join(told)} | {real[1]:.1f} ({real[0]:.1f} to {real[2]:.1f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--advice", type=int, metavar="STUDIES", help="only what is foretold, after so many studies")
    given = parser.parse_args()
    if given.advice:
        print("| study | as it is | taken for alike | real |\n|---|---|---|---|")
        for seed in range(given.advice):
            print(again(seed), flush=True)
        return
    seeds = given.seeds
    print("| team | results | runs that know paces | slow workers known | off by a factor of (median) | (90 %) |")
    print("|---|---|---|---|---|---|")
    for team in ("1:4", "1:16"):
        print("\n".join(told(team, seeds)), flush=True)
    print("\n| job times | runs with a false difference |\n|---|---|")
    for law in LAWS:
        print(f"| {law} | {sum(believed(law, seed) for seed in range(2 * seeds))} of {2 * seeds} |", flush=True)
    print("\n| team | | seconds for 100 evaluations | within 25 s: ended | cut off |\n|---|---|---|---|---|")
    for team in TEAMS:
        for name, kind in (("taken for alike", Blind), ("paces learned", Study)):
            whole = [performed(team, seed, kind, 100)[1].makespan for seed in range(seeds)]
            limited = [performed(team, seed, kind, 500, timeout=25.0) for seed in range(seeds)]
            cut = [len(optimizer.pending) for optimizer, _ in limited]
            ended = median(len(optimizer.trials) for optimizer, _ in limited) - median(cut)
            print(f"| {team} | {name} | {median(whole):.1f} | {ended:g} | {fmean(cut):.2f} |", flush=True)


if __name__ == "__main__":
    main()
