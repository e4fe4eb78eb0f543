"""What it costs to make points ahead of time: regret and waiting on the virtual clock, where a suggestion takes 50 ms.

    python -m benchmarks.workers.ahead -o ahead.csv             run what is not in the file yet
    python -m benchmarks.workers.ahead -o ahead.csv --report    print the tables

Six functions, 4 and 8 workers, evaluations that take 10 ms to 10 s on average. Runs are paired: with and without, the
initial points and the job times are the same.
"""

from __future__ import annotations

import argparse
import csv
import os
from dataclasses import astuple, dataclass, fields
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from aegisbo.simulation.many import simulate_all
from aegisbo.simulation.runs import Record, Spec

PROBLEMS = ("Branin", "GoldsteinPrice", "Hartmann3", "Michalewicz5", "Ackley5", "Hartmann6")
SUGGESTION = 0.05  # seconds
TINY = 1e-9  # regrets below this are equal


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    problem: str
    workers: int
    job_seconds: float  # of an evaluation, on average
    seed: int
    ahead: int
    budget: int

    @property
    def spec(self) -> Spec:
        """The run, in units of an evaluation."""
        return Spec(
            problem=self.problem,
            strategy="aegis",
            workers=self.workers,
            budget=self.budget,
            run=self.seed,
            suggestion=SUGGESTION / self.job_seconds,
            ahead=self.ahead,
        )


@dataclass(frozen=True)
class Row(Job):
    """What came out."""

    regret: float
    makespan: float  # in units of an evaluation
    waiting: float  # share of the workers' time spent waiting for a suggestion
    trace: str  # each improvement as time:regret

    @property
    def job(self) -> Job:
        return Job(*astuple(self)[: len(fields(Job))])

    def regret_at(self, time: float) -> float:
        """The regret of what had ended by then."""
        steps = [step.split(":") for step in self.trace.split()]
        return min(float(regret) for when, regret in steps if float(when) <= time)


def measured(job: Job, record: Record) -> Row:
    jobs = record.evaluations
    last = max(each.start for each in jobs)  # until then every free worker waits for a suggestion
    busy = sum(min(each.finish, last) - each.start for each in jobs)
    improved = np.flatnonzero(np.diff(record.scores, prepend=np.inf) < 0)
    trace = " ".join(f"{jobs[k].finish:.6g}:{record.scores[k]:.6g}" for k in improved)
    waiting = last - busy / job.workers
    return Row(*astuple(job), float(record.scores[-1]), record.makespan, waiting / record.makespan, trace)


def planned(options: argparse.Namespace) -> list[Job]:
    """Seeds outermost: whenever it is stopped, most settings have met the same ones."""
    order = product(range(options.seeds), options.job_seconds, options.workers, PROBLEMS, options.ahead)
    return [Job(problem, q, seconds, seed, ahead, options.budget) for seed, seconds, q, problem, ahead in order]


def execute(jobs: list[Job], processes: int, file: Path) -> None:
    new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            writer.writerow(field.name for field in fields(Row))
        for job, record in zip(jobs, simulate_all([job.spec for job in jobs], processes), strict=True):
            writer.writerow(astuple(measured(job, record)))
            stream.flush()


def read(file: Path) -> list[Row]:
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    return [Row(r[0], int(r[1]), float(r[2]), *map(int, r[3:6]), *map(float, r[6:9]), r[9]) for r in rows]


def report(rows: list[Row], workers: int, ahead: int) -> None:
    print(f"\n{workers} workers, ahead={ahead} against ahead=0, a suggestion takes {SUGGESTION * 1000:g} ms")
    print("evaluation   runs   waiting without   with   time   regret: better worse   ratio     p   at equal time")
    mine = {row.job: row for row in rows if row.workers == workers}
    for seconds in sorted({row.job_seconds for row in mine.values()}):
        pairs = [
            (mine[without], row)
            for job, row in mine.items()
            if (job.job_seconds, job.ahead) == (seconds, ahead)
            and (without := Job(job.problem, job.workers, job.job_seconds, job.seed, 0, job.budget)) in mine
        ]
        if pairs:
            print(_line(seconds, pairs))


def _line(seconds: float, pairs: list[tuple[Row, Row]]) -> str:
    off, on = (
        np.array([[row.waiting, row.makespan] for row in side]).mean(axis=0) for side in zip(*pairs, strict=True)
    )
    final = _logs([(a.regret, b.regret) for a, b in pairs])
    moments = [min(a.makespan, b.makespan) for a, b in pairs]
    timed = _logs([(a.regret_at(t), b.regret_at(t)) for (a, b), t in zip(pairs, moments, strict=True)])
    return (
        f"{seconds:>8g} s {len(pairs):>6} {off[0]:>17.1%} {on[0]:>6.1%} {on[1] / off[1]:>6.2f}"
        f" {(final < 0).sum():>16} {(final > 0).sum():>5} {np.exp(final.mean()):>7.2f} {_p(final):>5.2f}"
        f" {np.exp(timed.mean()):>9.2f} (p {_p(timed):.2f})"
    )


def _logs(pairs: list[tuple[float, float]]) -> np.ndarray:  # (n,)
    """Logarithms of the ratios, positive where the second is worse."""
    first, second = np.maximum(np.array(pairs), TINY).T
    return np.log(second / first)


def _p(logs: np.ndarray) -> float:  # (n,)
    """Of Wilcoxon's test that the two are alike."""
    return float(wilcoxon(logs).pvalue) if logs.any() else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how many (5)")
    parser.add_argument("--workers", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--job-seconds", type=float, nargs="+", default=[0.01, 0.1, 1.0, 10.0])
    parser.add_argument("--ahead", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--budget", type=int, default=100, help="evaluations, the initial 2d included (100)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (as many as there are cores)")
    parser.add_argument("-o", "--output", type=Path, default=Path("ahead.csv"), help="where the numbers are kept")
    parser.add_argument("--report", action="store_true", help="only evaluate what is there")
    options = parser.parse_args()
    rows = read(options.output)
    if not options.report:
        done = {row.job for row in rows}
        execute([job for job in planned(options) if job not in done], options.jobs, options.output)
        rows = read(options.output)
    for workers, ahead in product(options.workers, sorted({row.ahead for row in rows} - {0})):
        report(rows, workers, ahead)


if __name__ == "__main__":
    main()
