"""Which share of all targets a method has reached after so many evaluations: the picture of the field (COCO).

On BBOB and other functions the targets are the 51 regrets 1e2, ..., 1e-8, five for each power of ten. On a table they
are the regrets of the best 10 %, ..., 0.01 % of its configurations, and the best one. Beside them, on BBOB, the targets
that the best known had reached after d/2, d, 2d, 5d, 10d, 20d and 40d evaluations: easy ones and hard ones alike are
then as hard on every function.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from aegisbo.arrays import Array
from benchmarks.problems.bbob import best_after, best_steps, numbers_of
from benchmarks.problems.named import group_of, problem_named
from benchmarks.problems.tables import Table
from benchmarks.regret.report import BEST, print_row
from benchmarks.regret.run import Outcome
from benchmarks.traces import steps

TARGETS = np.logspace(2, -8, 51)
SHARES = np.logspace(-1, -4, 16)  # of the configurations of a table
RUN_LENGTHS = (0.5, 1, 2, 5, 10, 20, 40)  # evaluations for each dimension
ROUNDING = 1.001  # targets of the best known have four digits

Targets = Callable[[str], Array]  # of a problem
Curves = dict[str, dict[str, Array]]  # by group and method: evaluations needed for each pair of run and target


def absolute_targets(problem: str) -> Array:
    """Targets in units of the problem; of a table, by rank."""
    found = problem_named(problem) if group_of(problem) == "tables" else None
    return np.array([*map(found.regret_of_share, SHARES), 0.0]) if isinstance(found, Table) else TARGETS


def relative_targets(problem: str) -> Array:
    """Targets that the best known reached after certain numbers of evaluations; empty outside BBOB."""
    if not problem.startswith("bbob-"):
        return np.empty(0)
    d = numbers_of(problem)[2]
    reached = [best_after(problem, int(length * d)) for length in RUN_LENGTHS]
    return np.array(reached)[np.isfinite(reached)]


def needed(trace: str, targets: Array) -> Array:  # (t,) -> (t,)
    """After how many evaluations each target was reached; infinite if never."""
    evaluations, _, regrets = np.array(steps(trace)).T
    reached = regrets[:, None] <= targets  # (steps, t)
    return np.where(reached.any(axis=0), evaluations[reached.argmax(axis=0)], np.inf)


def needed_by_the_best(problem: str, targets: Array) -> Array:  # (t,) -> (t,)
    known = np.array(best_steps(problem))  # (k, 2): target, evaluations
    return np.array([known[known[:, 0] <= ROUNDING * t, 1].min(initial=np.inf) for t in targets])


def curves(outcomes: Iterable[Outcome], targets: Targets) -> Curves:
    """Of the runs with a trace that all methods of a group have in common."""
    found: dict[str, dict[str, dict[tuple[str, int], Array]]] = defaultdict(lambda: defaultdict(dict))
    for outcome in outcomes:
        if outcome.trace and len(wanted := targets(outcome.problem)):
            values = needed(outcome.trace, wanted)
            found[group_of(outcome.problem)][outcome.method][outcome.problem, outcome.seed] = values
    return {group: _shared(by_method, targets) for group, by_method in found.items()}


def _shared(by_method: dict[str, dict[tuple[str, int], Array]], targets: Targets) -> dict[str, Array]:
    runs = sorted(set.intersection(*(set(of_method) for of_method in by_method.values())))
    if not runs:
        return {}
    needs = {method: np.concatenate([of_method[run] for run in runs]) for method, of_method in by_method.items()}
    if all(problem.startswith("bbob-") and best_steps(problem) for problem, _ in runs):
        needs[BEST] = np.concatenate([needed_by_the_best(problem, targets(problem)) for problem, _ in runs])
    return needs


def share(needs: Array, evaluations: float) -> float:
    """The share of targets that were reached."""
    return float(np.mean(needs <= evaluations))


def area(needs: Array, budget: int) -> float:
    """The mean share between 10 evaluations and the budget, on a logarithmic scale as in the picture."""
    return float(np.mean([share(needs, n) for n in np.geomspace(min(10, budget), budget, 60)]))


def print_curves(outcomes: list[Outcome], methods: list[str], budget: int) -> None:
    """Areas and final shares by group, with the number of targets behind them."""
    for title, targets in (
        ("targets 1e2 to 1e-8, or ranks", absolute_targets),
        ("of the best known", relative_targets),
    ):
        found = curves(outcomes, targets)
        if not found:
            continue
        columns = [*methods, BEST] if any(BEST in by_method for by_method in found.values()) else methods
        print(f"\nShare of targets ({title}): area under the curve to {budget} evaluations / share at the end")
        print_row("group", "of", columns, columns)
        for group, by_method in found.items():
            count = max(map(len, by_method.values()), default=0)
            print_row(group, str(count), [_cell(by_method.get(method), budget) for method in columns], columns)


def print_basins(outcomes: list[Outcome], methods: list[str]) -> None:
    """The share of runs whose best point lies in the valley of the minimum."""
    scored = [outcome for outcome in outcomes if outcome.basin]
    if not scored:
        return
    print("\nRuns that end in the valley of the minimum")
    print_row("problem", "", methods, methods)
    for name in dict.fromkeys(_plain(outcome.problem) for outcome in scored):
        runs = {m: [int(o.basin) for o in scored if o.method == m and _plain(o.problem) == name] for m in methods}
        print_row(name, "", [f"{sum(r)} of {len(r)}" if (r := runs[m]) else "-" for m in methods], methods)


def draw_curves(outcomes: list[Outcome], methods: list[str], budget: int, file: Path) -> None:
    """A panel for each group."""
    found = curves(outcomes, absolute_targets)
    if find_spec("matplotlib") is None or not found:
        return
    from matplotlib.figure import Figure

    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(4 * columns, 3.2 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    evaluations = np.geomspace(1, budget, 200)
    for axis, (group, by_method) in zip(axes, found.items(), strict=False):
        for k, method in enumerate([*methods, BEST]):
            if method in by_method:
                style = {"color": "black", "linestyle": ":"} if method == BEST else {"color": f"C{k}"}
                axis.plot(evaluations, [share(by_method[method], n) for n in evaluations], label=method, **style)
        axis.set(title=group, xscale="log", xlabel="evaluations", ylim=(0, None))
        axis.grid(color="0.9")
    axes[0].set_ylabel("share of targets reached")
    for axis in axes[len(found) :]:
        axis.set_visible(False)
    handles = {label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    figure.savefig(file, dpi=150)
    print(f"\nThe curves are {file}.")


def _plain(problem: str) -> str:
    return problem.partition("-")[0]


def _cell(needs: Array | None, budget: int) -> str:
    return "-" if needs is None else f"{area(needs, budget):.3f}/{share(needs, budget):.2f}"
