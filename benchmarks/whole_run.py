"""A whole run of 200 evaluations at d = 10 with 8 simulated workers: our suggestions and Optuna's GPSampler's.

    python benchmarks/whole_run.py [--problem Rosenbrock10] [--budget 200]

Both live on the same virtual clock, from the same 2d initial points and with the same job times. Prints CPU seconds on
one thread and the regret; ours must cost at most half.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping
from typing import Any

import optuna
import torch
from threadpoolctl import threadpool_limits

from aegisbo import Optimizer
from aegisbo.optimizer import Trial
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import AsksAndTells
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import HalfNormal

WORKERS, SEED = 8, 0


class OptunaGP:
    """Optuna behind the loop's few calls; it begins with our initial design."""

    pending: tuple[Trial, ...] = ()
    memory: Mapping[str, Any] = {}

    def __init__(self, bounds: list[tuple[float, float]], initial: Optimizer) -> None:
        sampler = optuna.samplers.GPSampler(seed=SEED, deterministic_objective=True, n_startup_trials=0)
        self._study = optuna.create_study(sampler=sampler)
        self._kinds = {f"x{i}": optuna.distributions.FloatDistribution(*side) for i, side in enumerate(bounds)}
        self._initial = initial
        self._live: list[optuna.Trial] = []

    def ask(self) -> Trial:
        if len(self._live) < self._initial.n_initial:
            self._study.enqueue_trial(dict(self._initial.ask().params))
        trial = self._study.ask(self._kinds)
        self._live.append(trial)
        return Trial(len(self._live) - 1, [trial.params[name] for name in self._kinds], trial.params)

    def tell(self, number: int, value: float) -> None:
        self._study.tell(self._live[number], value)

    def fail(self, number: int, reason: str, *, state: str) -> None:
        self._study.tell(self._live[number], state=optuna.trial.TrialState.FAIL)


def measured(optimizer: AsksAndTells, problem: problems.Problem, budget: int) -> tuple[float, float]:
    workers = VirtualWorkers(problem, WORKERS, HalfNormal(), SEED, free=2 * problem.d)
    begin = time.process_time()
    record = run(optimizer, workers, budget)
    seconds = time.process_time() - begin
    return seconds, min(job.outcome.value for job in record.finished) - problem.minimum


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", default="Rosenbrock10")
    parser.add_argument("--budget", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    torch.set_num_threads(1)
    problem = problems.get(options.problem)
    bounds = list(problem.bounds)
    with threadpool_limits(1):
        ours, our_regret = measured(Optimizer(bounds, seed=SEED), problem, options.budget)
        theirs, their_regret = measured(OptunaGP(bounds, Optimizer(bounds, seed=SEED)), problem, options.budget)
    print(f"{problem.name}, {options.budget} evaluations, {WORKERS} workers")
    print(f"aegisbo             {ours:7.1f} s   regret {our_regret:.4g}")
    print(f"Optuna's GPSampler  {theirs:7.1f} s   regret {their_regret:.4g}")
    print(f"ratio               {ours / theirs:7.3f}     (at most 0.5)")


if __name__ == "__main__":
    main()
