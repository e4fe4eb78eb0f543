"""Whether constraints are learned and kept, and the best point at their edge is found.

    python -m benchmarks.objectives.constraints [--seeds 100] [--budget 60] [--scenarios spring] [--methods random]

Constrained problems, four workers on the virtual clock; Optuna's samplers beside ours where Optuna is installed (it is
told what was measured by `set_constraint`). For each problem and method: how many evaluations broke a constraint, and
the regret of the best that broke none, as medians over the seeds; "-" if there was none. In *known* the constraint of
*plane* is known beforehand: we are given it as `constraints`, Optuna learns it.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from aegisbo.arrays import Array
from aegisbo.outcome import Outcome as Ended
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from benchmarks.peers.driven import Driven, trials_of

WORKERS = 4
METHODS = ("aegis/modern", "optuna-gp", "optuna-tpe", "random")
BROKEN = 1e-12  # rounding


@dataclass(frozen=True)
class Scenario:
    """A function with what else is measured; each of these must not be above 0."""

    function: Callable[[Array], tuple[float, dict[str, float]]]
    bounds: Sequence[tuple[float, float]]
    known: Sequence[str] = ()  # constraints that are known beforehand, instead of what is measured
    has_minimum: bool = True  # else the value itself is shown

    def __call__(self, x: Array) -> tuple[float, dict[str, float]]:
        return self.function(np.asarray(x, dtype=float))

    @property
    def names(self) -> list[str]:
        return list(self([low for low, _ in self.bounds])[1])


def gardner(x: Array) -> tuple[float, dict[str, float]]:
    """The simulation of Gardner et al. (2014): the lowest of several feasible islands."""
    a, b = x
    return math.cos(2 * a) * math.cos(b) + math.sin(a), {"c": math.cos(a + b) + 0.5}


def spring(x: Array) -> tuple[float, dict[str, float]]:
    """The weight of a coil spring (Arora, 1989): wire diameter, coil diameter, coils; all four limits are tight."""
    d, D, n = x
    return (n + 2) * D * d**2, {
        "deflection": 1 - D**3 * n / (71785 * d**4),
        "stress": (4 * D**2 - d * D) / (12566 * (D * d**3 - d**4)) + 1 / (5108 * d**2) - 1,
        "frequency": 1 - 140.45 * d / (D**2 * n),
        "diameter": (d + D) / 1.5 - 1,
    }


def plane(x: Array) -> tuple[float, dict[str, float]]:
    """Hartmann6 behind an oblique plane."""
    return float(problems.get("Hartmann6")(x)), {"sum": float(x.sum()) - 1.7}


@cache
def _digits() -> tuple[Array, Array]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:400]
    return X[chosen], y[chosen]


def forest(x: Array) -> tuple[float, dict[str, float]]:
    """Log loss of extremely randomized trees on digits, and how many nodes they have; 2000 are allowed."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict

    trees, log_leaf, share, depth = x
    model = ExtraTreesClassifier(
        n_estimators=round(trees),
        min_samples_leaf=round(2.0**log_leaf),
        max_features=share,
        max_depth=round(depth),
        random_state=0,
    )
    X, y = _digits()
    chances = cross_val_predict(model, X, y, cv=3, method="predict_proba") + 1e-3
    loss = log_loss(y, chances / chances.sum(axis=1, keepdims=True))
    nodes = sum(tree.tree_.node_count for tree in model.fit(X, y).estimators_)
    return float(loss), {"nodes": nodes / 2000 - 1}


UNIT = [(0.0, 1.0)] * 6
SCENARIOS = {
    "gardner": Scenario(gardner, [(0.0, 6.0)] * 2),
    # A real model. Nobody knows its minimum: the log loss itself is shown.
    "forest": Scenario(forest, [(2.0, 60.0), (0.0, 5.0), (0.05, 1.0), (2.0, 14.0)], has_minimum=False),
    "spring": Scenario(spring, [(0.05, 0.2), (0.25, 1.3), (2.0, 15.0)]),
    "known": Scenario(plane, UNIT, known=[f"{' + '.join(f'x{k}' for k in range(6))} <= 1.7"]),
    "plane": Scenario(plane, UNIT),
}


@cache
def minimum(name: str) -> float:
    """The lowest value that breaks nothing, by SLSQP from many starts; 0 where nobody knows it."""
    scenario = SCENARIOS[name]
    if not scenario.has_minimum:
        return 0.0
    low, high = np.array(scenario.bounds).T
    starts = low + qmc.Sobol(len(low), seed=0).random(256) * (high - low)
    margins = {"type": "ineq", "fun": lambda x: -np.array(list(scenario(x)[1].values()))}
    scale = abs(scenario(starts[0])[0])
    found = [
        minimize(lambda x: scenario(x)[0] / scale, x, method="SLSQP", bounds=scenario.bounds, constraints=margins)
        for x in starts
    ]
    kept = [scenario(each.x)[0] for each in found if max(scenario(each.x)[1].values()) <= 1e-9]
    return min(kept)


@dataclass(frozen=True)
class Outcome:
    """One run: what it found, and how often it broke a constraint."""

    regret: float
    broken: int
    seconds: float  # that its choices took, and the function


class _Measuring(Driven):
    """An Optuna study, told what was measured."""

    def told(self, number: int, ended: Ended) -> None:
        for name, value in ended.measured.items():
            self.method._live[number].set_constraint(name, value)
        self.method.tell(number, ended.value)


def perform(name: str, method: str, seed: int, budget: int) -> Outcome:
    scenario, began = SCENARIOS[name], time.perf_counter()
    workers = VirtualWorkers(scenario, WORKERS, half_normal, seed, free=2 * len(scenario.bounds))
    limits = [] if scenario.known else [f"{each} <= 0" for each in scenario.names]
    ours = {"constraints": scenario.known, "limits": limits}
    trials = trials_of(method, scenario.bounds, workers, budget, seed, _Measuring, **ours)
    kept = [trial.value for trial in trials if max(trial.measured.values()) <= BROKEN and trial.value is not None]
    regret = min(kept, default=math.inf) - minimum(name)
    return Outcome(regret, len(trials) - len(kept), time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102, 103, 104])
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    print("scenario  method           broken: median  regret: median     worst   none kept   seconds")
    for name in options.scenarios:
        for method in options.methods:
            outcomes = [perform(name, method, seed, options.budget) for seed in options.seeds]
            regrets = [outcome.regret for outcome in outcomes]
            print(
                f"{name:10}{method:16}{median(outcome.broken for outcome in outcomes):15g}"
                f"{_told(median(regrets)):>16}{_told(max(regrets)):>10}{sum(map(math.isinf, regrets)):12}"
                f"{median(outcome.seconds for outcome in outcomes):10.0f}",
                flush=True,
            )


def _told(regret: float) -> str:
    return "-" if math.isinf(regret) else f"{regret:.3g}"


if __name__ == "__main__":
    main()
