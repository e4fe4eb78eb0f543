"""What should a slow worker get, or one that is often taken away? Policies beside blind assignment.

    python -m benchmarks.workers.uneven uneven.csv [--seeds 4] [--jobs 1]
    python -m benchmarks.workers.uneven uneven.csv --report

On the virtual clock: eight workers, half of them weak: 4 or 16 times as slow as the others, or taken away after 4
seconds (mean) for 2 seconds. Evaluations take 1 second on average on a strong worker, and ten times as long at one end
of the first coordinate as at the other. All policies of a seed start with the same points, know from the start which
workers are weak, and have the time in which blind assignment makes about 50 evaluations.

blind: as the strategy chooses, for every worker. For weak workers the others choose
explore: by Thompson sampling or from the Pareto set only;
exploit: without either;
quick: by gain per second, where the true seconds of known points are known;
without: nothing, weak workers are not used.

The report compares each policy with blind assignment: the ratio of times to the same regret (the higher one of the two
final ones), how often it was sooner and later, with a sign test; and the same by how much was reached at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
from numpy.random import Generator

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.options import Options
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.simulation.clock import Member
from aegisbo.simulation.laws import pareto
from aegisbo.simulation.problems import get
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.registry import resolve
from aegisbo.strategies.timing import Timing
from aegisbo.study import Study
from benchmarks.regret.starts import ByPoint, seed_of
from benchmarks.rows import fill, job_of, read
from benchmarks.sign_test import sign_test
from benchmarks.traces import Traced, trace_of

WORKERS = 8
STRONG = WORKERS // 2  # the first ones
EVALUATIONS = 50  # about, of blind assignment
MOST = 150
TEAMS = {
    "1:1": Member(),
    "1:4": Member(pace=4.0),
    "1:16": Member(pace=16.0),
    "vanishing": Member(stays=4.0, absent=2.0),
}
SHARE = {"1:1": 1.0, "1:4": 1 / 4, "1:16": 1 / 16, "vanishing": 0.5}  # that a weak worker does, about
PROBLEMS = ("Hartmann3", "Ackley5", "StyblinskiTang5", "Hartmann6")
FLOOR = 1e-6  # regrets below this are alike
STRATEGIES = {"blind": "aegis", "explore": "aegis:epsilon=1", "exploit": "aegis:epsilon=0", "quick": "aegis"}
POLICIES = (*STRATEGIES, "without")


@dataclass(frozen=True)
class Job:
    """What decides a run."""

    problem: str
    team: str
    policy: str
    seed: int


@dataclass(frozen=True)
class Row(Job, Traced):
    """One run: when the best value became better, and how far it was from the minimum then."""

    evaluations: int
    by_weak: int
    end: float
    trace: str  # time:regret ...


def base_seconds(U: Array) -> Array:  # (n, d) -> (n,)
    """Mean seconds at points of the cube: 1 on average, ten times as many at one end of the first coordinate."""
    return np.asarray(np.log(10.0) / 9.0 * 10.0 ** U[:, 0])


class Team(ByPoint):
    """Strong workers, then weak ones, whose jobs take as long as their points do."""

    def __init__(self, job: Job, seed: int) -> None:
        problem, weak = get(job.problem), () if job.policy == "without" else (TEAMS[job.team],) * STRONG
        super().__init__(problem, WORKERS, pareto, seed, members=((Member(),) * STRONG + weak))
        self.bounds = problem.bounds

    def seconds(self, number: int) -> float:
        low, high = np.array(self.bounds).T
        return super().seconds(number) * float(base_seconds(((self.points[number] - low) / (high - low))[None])[0])


@dataclass(frozen=True)
class ByWorker:
    """Chooses for weak workers in another way than for strong ones."""

    workers: Team
    quick: bool
    strong: Strategy
    weak: Strategy
    asked: list[int] = field(default_factory=list)

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        if self.workers.next_worker < STRONG:
            return self.strong.suggest(evidence, memory, rng)
        if self.quick:
            evidence = replace(evidence, timing=Timing(evidence.X, base_seconds(evidence.X), costly=True))
        return self.weak.suggest(evidence, memory, rng)


def searched(job: Job) -> Row:
    problem = get(job.problem)
    seed = seed_of(job.seed, job.problem)
    workers = Team(job, seed)
    weak = resolve(STRATEGIES.get(job.policy, "aegis"))
    strategy = ByWorker(workers, job.policy == "quick", resolve("aegis"), weak)
    optimizer = Optimizer(problem.bounds, strategy=strategy, seed=seed)
    end = EVALUATIONS / (STRONG * (1.0 + SHARE[job.team]))
    late: list[Finished] = []

    def watch(job: Finished) -> None:
        if job.finished > end:
            late.append(job)
            raise StopRun("enough")

    record = run(Study(optimizer), workers, MOST, options=Options(retries=1000), watch=watch)
    done = [each for each in record.finished if each.outcome.state == "done" and each.finished <= end]
    regrets = [max(each.outcome.value - (problem.minimum or 0.0), FLOOR) for each in done]
    trace = trace_of("{:.6g}:{:.6g}", [each.finished for each in done], regrets)
    by_weak = sum((each.outcome.worker or 0) >= STRONG for each in done)
    return Row(job.problem, job.team, job.policy, job.seed, len(done), by_weak, end, trace)


def jobs(seeds: int, policies: Sequence[str]) -> Iterator[Job]:
    """Where all workers are alike, every policy is blind."""
    for seed, problem, team in product(range(seeds), PROBLEMS, TEAMS):
        for policy in policies if team != "1:1" else policies[:1]:
            yield Job(problem, team, policy, seed)


def report(rows: list[Row]) -> None:
    found = {job_of(row, Job): row for row in rows}
    print("| team | policy | runs | evaluations | by weak workers | time to the same regret | sooner : later | "
          "lower : higher at the end |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for team in TEAMS:
        for policy in POLICIES:
            if mine := [row for job, row in found.items() if (job.team, job.policy) == (team, policy)]:
                print(_line(team, policy, mine, [found.get(replace(job_of(row, Job), policy="blind")) for row in mine]))


def _line(team: str, policy: str, mine: list[Row], blind: list[Row | None]) -> str:
    made, weak = (median(getattr(row, name) for row in mine) for name in ("evaluations", "by_weak"))
    told = f"| {team} | {policy} | {len(mine)} | {made:g} | {weak:g} |"
    if policy == "blind":
        return f"{told} | | |"
    ratios, ends = [], []
    for row, other in zip(mine, blind, strict=True):
        if other is not None:
            one, its = row.regret_at(row.end), other.regret_at(row.end)
            ratios.append(row.time_to(max(one, its)) / other.time_to(max(one, its)))
            ends.append(np.sign(one - its))
    sooner, later = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
    mean = float(np.exp(np.mean(np.log(ratios))))
    return f"{told} × {mean:.2f} | {_counts(sooner, later)} | {_counts(ends.count(-1.0), ends.count(1.0))} |"


def _counts(one: int, other: int) -> str:
    return f"{one} : {other}" + (f" (p = {sign_test(one, other):.2g})" if one + other else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the file that keeps what was computed")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    if given.report:
        report(read(given.results, Row))
        return
    fill(given.results, Row, searched, jobs(given.seeds, given.policies), given.jobs)


if __name__ == "__main__":
    main()
