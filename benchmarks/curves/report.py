"""What was reached when, beside the best of all methods, and sign tests of one method against each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from benchmarks.curves.run import MARKS, UNITS, Outcome
from benchmarks.sign_test import sign_test
from benchmarks.traces import steps

NAMES = [f"after_{mark:g}" for mark in MARKS]


def print_report(runs: Sequence[Outcome], chosen: str) -> None:
    for group in ("lcbench", "lcdb", "crossing"):
        for workers in sorted({run.workers for run in runs}):
            some = [run for run in runs if run.workers == workers and run.problem.startswith(group)]
            if some:
                print(f"\n{group}, {workers} workers, {len({run.problem for run in some})} problems")
                _print_group(some, chosen)


def _print_group(runs: Sequence[Outcome], chosen: str) -> None:
    best = {run.problem: max(each.after_20 for each in runs if each.problem == run.problem) for run in runs}
    methods = dict.fromkeys(run.method for run in runs)
    print(f"{'median distance from the best run after':40}" + "".join(f"{mark:>8g}" for mark in MARKS) + "  units")
    for method in methods:
        mine = [run for run in runs if run.method == method]
        marks = [median(best[run.problem] - getattr(run, name) for run in mine) for name in NAMES]
        print(f"{method:40}" + "".join(f"{each:8.2f}" for each in marks) + f"  {len(mine)} runs")
    print(f"{chosen} better : worse")
    for method in methods:
        if method != chosen:
            print(f"{'  than ' + method:40}" + "".join(f"{_signs(runs, chosen, method, name):>16}" for name in NAMES))
    for method in methods:
        _print_stops(method, [run for run in runs if run.method == method])
    _print_thirds(runs, chosen)


def _signs(runs: Sequence[Outcome], chosen: str, other: str, name: str) -> str:
    theirs = {(run.problem, run.seed): getattr(run, name) for run in runs if run.method == other}
    pairs = [
        (getattr(run, name), theirs[run.problem, run.seed])
        for run in runs
        if run.method == chosen and (run.problem, run.seed) in theirs
    ]
    better, worse = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    p = sign_test(better, worse)
    return f"{better} : {worse} ({p:.2g})"


def _print_stops(method: str, runs: Sequence[Outcome]) -> None:
    trials, stopped, missed = (sum(getattr(run, name) for run in runs) for name in ("trials", "stopped", "missed"))
    seconds = 1e3 * sum(run.suggestion_seconds for run in runs) / trials
    report = 1e3 * sum(run.report_seconds for run in runs) / max(sum(run.reports for run in runs), 1)
    spared = sum(run.spared for run in runs) / len(runs)
    print(
        f"{method:40}{stopped} of {trials} stopped, {missed} better than the run's best (in "
        f"{sum(run.missed > 0 for run in runs)} of {len(runs)} runs), {spared:.2f} of the time spared, "
        f"{seconds:.1f} ms a suggestion, {report:.2f} ms a report"
    )


def _print_thirds(runs: Sequence[Outcome], chosen: str) -> None:
    """When the chosen method reached what our full trainings have at the end."""
    ends = {(run.problem, run.seed): run.after_20 for run in runs if run.method == "aegis-full"}
    times = [
        min((when for when, value in steps(run.trace) if value >= ends[run.problem, run.seed]), default=float("inf"))
        for run in runs
        if run.method == chosen and (run.problem, run.seed) in ends
    ]
    if times:
        within = sum(time <= UNITS / 3 for time in times)
        reached = sum(time <= UNITS for time in times)
        print(f"the end of aegis-full: after {median(times):.3g} units (median); {within} of {len(times)} in a third")
        print(f"of its time, {reached} in all of it")
