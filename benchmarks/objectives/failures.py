"""Whether failing regions are avoided, and what lies at their edge is still found.

    python -m benchmarks.objectives.failures [--seeds 100] [--budget 110] [--scenarios edge] [--methods random]

Problems that fail in part of their box, or by chance, four workers on the virtual clock; Optuna's samplers beside ours
where Optuna is installed (a failure is a failed trial there). For each scenario and method: the share of failed
evaluations in the first and in the last third of a run (`random` shows how much of the box fails), the regret against
the lowest value that does not fail, as medians over the seeds, and what chose the points that failed later.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, median
from zlib import crc32

import numpy as np
from scipy.special import expit

from aegisbo import Trial
from aegisbo.arrays import Array
from aegisbo.outcome import FAILURES
from aegisbo.outcome import Outcome as Ended
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from benchmarks.peers.driven import Driven, trials_of

WORKERS = 4
METHODS = ("aegis/modern", "optuna-gp", "optuna-tpe", "random")


class OutOfReachError(Exception):
    """The simulator diverged."""


@dataclass(frozen=True)
class Scenario:
    """A function that fails somewhere, and the lowest value elsewhere."""

    function: Callable[[Array], float]
    bounds: Sequence[tuple[float, float]]
    minimum: float
    fails: Callable[[Array], bool] = lambda x: False

    def __call__(self, x: Array) -> float:
        if self.fails(x):
            raise OutOfReachError(x)
        return float(self.function(x))


def flaky(x: Array) -> bool:
    """One in five, wherever it is: the same for the same point."""
    return crc32(np.asarray(x).tobytes()) % 5 == 0


@cache
def _patients() -> tuple[Array, Array]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:200]
    return StandardScaler().fit_transform(X[chosen]), y[chosen]


def support_vectors(x: Array) -> float:
    """Log loss of a support vector classifier, which cannot be trained if nu is too large for the classes' sizes."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from sklearn.svm import NuSVC

    nu, log_gamma, coef0 = map(float, x)
    model = NuSVC(nu=nu, kernel="poly", degree=2, gamma=10.0**log_gamma, coef0=coef0)
    X, y = _patients()
    return float(log_loss(y, expit(cross_val_predict(model, X, y, cv=4, method="decision_function"))))


TANG, HARTMANN = problems.get("StyblinskiTang5"), problems.get("Hartmann6")
TANG_VALLEY = TANG.minimum / TANG.d  # the deepest point of one coordinate, at -2.9035; the function is a sum of such
TANG_OTHER_VALLEY = -25.0294  # of one coordinate, at 2.7468
TANG_AT_MINUS_2 = -29.0  # of one coordinate, on the slope towards -2.9035
OBLIQUE = np.array([0.5, 0.2, -1.0, -1.0, -1.0, 0.4])  # beyond this plane through its minimum lies 0.3 of the box

SCENARIOS = {
    # The deepest valley fails, and the next best one is far away.
    "hidden": Scenario(TANG, TANG.bounds, TANG.minimum - TANG_VALLEY + TANG_OTHER_VALLEY, lambda x: bool(x[0] < -1.5)),
    # It fails where it would be lowest, and the lowest point that does not is where it begins to.
    "slope": Scenario(TANG, TANG.bounds, TANG.minimum - TANG_VALLEY + TANG_AT_MINUS_2, lambda x: bool(x[0] < -2.0)),
    # The lowest point of all has a neighborhood half of which fails.
    "edge": Scenario(
        HARTMANN, HARTMANN.bounds, HARTMANN.minimum, lambda x: bool(OBLIQUE @ (x - HARTMANN.minimizers[0]) > 0.0)
    ),
    # It fails by chance: there is nothing to be learned from it.
    "flaky": Scenario(HARTMANN, HARTMANN.bounds, HARTMANN.minimum, flaky),
    # A real model. Nobody knows its minimum: the log loss itself is shown.
    "svm": Scenario(support_vectors, [(0.01, 1.0), (-4.0, 0.0), (0.0, 2.0)], 0.0),
}


@dataclass(frozen=True)
class Outcome:
    """One run: what it found, and how often it failed."""

    regret: float
    failed_first: float  # share of the first third
    failed_last: float
    failed_moves: Counter[str]  # what chose the points of the last two thirds that failed


class _Failing(Driven):
    """Another optimizer, told what failed."""

    def told(self, number: int, ended: Ended) -> None:
        if ended.state == "done":
            self.method.tell(number, ended.value)
        else:
            self.method.fail(number)


def perform(scenario: Scenario, method: str, seed: int, budget: int) -> Outcome:
    workers = VirtualWorkers(scenario, WORKERS, half_normal, seed, free=2 * len(scenario.bounds))
    trials = trials_of(method, scenario.bounds, workers, budget, seed, _Failing)
    third = budget // 3
    return Outcome(
        regret=min(trial.value for trial in trials if trial.value is not None) - scenario.minimum,
        failed_first=failed_share(trials[:third]),
        failed_last=failed_share(trials[-third:]),
        failed_moves=Counter(trial.note["move"] for trial in trials[third:] if trial.state in FAILURES),
    )


def failed_share(trials: Sequence[Trial]) -> float:
    return mean(trial.state in FAILURES for trial in trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102, 103, 104])
    parser.add_argument("--budget", type=int, default=110)
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    print("scenario  method          failed: first third  last third    regret: median    worst    failed later by")
    for name in options.scenarios:
        for method in options.methods:
            outcomes = [perform(SCENARIOS[name], method, seed, options.budget) for seed in options.seeds]
            moves = sum((outcome.failed_moves for outcome in outcomes), Counter())
            print(
                f"{name:10}{method:16}{median(outcome.failed_first for outcome in outcomes):19.0%}"
                f"{median(outcome.failed_last for outcome in outcomes):12.0%}"
                f"{median(outcome.regret for outcome in outcomes):18.3g}"
                f"{max(outcome.regret for outcome in outcomes):9.3g}    "
                + ", ".join(f"{count} {move}" for move, count in moves.most_common()),
                flush=True,
            )


if __name__ == "__main__":
    main()
